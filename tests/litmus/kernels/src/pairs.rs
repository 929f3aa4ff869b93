//! Instances of a test with two lanes and two words each.

use litmus_common::crew::Crew;
use warpheap::device::*;

/// Bit of `fences`: the one who hands over makes a release fence.
pub const RELEASES: u32 = 1;
/// Bit of `fences`: the one who takes over makes an acquire fence.
pub const ACQUIRES: u32 = 2;

/// There are as many instances as testers. Tester `i` has the first role in instance `i` and the second one in another,
/// as if by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Pairs {
    /// Who tests.
    pub crew: Crew,
    /// First word of the memory.
    pub first: u32,
    /// Words between two locations.
    pub stride: u32,
    /// Instances are shuffled by a multiplication with this, which has no divisor in common with their number,
    pub factor: u32,
    /// and an addition of this.
    pub shift: u32,
    /// Rounds of a lane.
    pub rounds: u32,
    /// No location holds a greater number before the launch. Round `n`, from 1 on, writes `before + n`.
    pub before: u32,
    /// Which fences are made.
    pub fences: u32,
}

impl Pairs {
    /// Another number below `lanes` for each.
    #[inline(always)]
    pub fn other(self, lane: u32, lanes: u32) -> u32 {
        (lane * self.factor + self.shift) % lanes
    }

    /// The word `x` of an instance.
    #[inline(always)]
    pub fn x(self, instance: u32) -> usize {
        (self.first + instance * self.stride) as usize
    }

    /// The word `y` of an instance, at another distance from `x` for each.
    #[inline(always)]
    pub fn y(self, instance: u32, instances: u32) -> usize {
        self.x(instances + self.other(instance, instances))
    }

    /// Whether the warp of a tester begins a round with its second role.
    #[inline(always)]
    pub fn second_first(self, lane: u32, round: u32) -> u32 {
        ((lane >> 5) ^ round) & 1
    }
}
