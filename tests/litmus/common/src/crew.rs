//! Which lanes of a launch test, and which make stress.

use warpheap::device::*;

/// What [`Crew::tester`] gives a lane that makes stress.
pub const NOBODY: u32 = u32::MAX;

/// Whole blocks test or make stress. Which ones is shuffled, so that testers that belong together run in other places
/// of the device in each launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Crew {
    /// Blocks are shuffled by a multiplication with this, which has no divisor in common with their number,
    pub factor: u32,
    /// and an addition of this.
    pub shift: u32,
    /// Blocks that test.
    pub testers: u32,
    /// Lines that are hammered.
    pub lines: u32,
    /// Words between two of them.
    pub spacing: u32,
    /// What is done to them; see [`stress`](crate::stress).
    pub pattern: u32,
    /// The most steps of a lane that makes stress.
    pub bound: u32,
    /// Makes the dice of the launch.
    pub seed: u32,
}

impl Crew {
    /// The calling lane's number among those that test, from 0 on without gaps.
    #[inline(always)]
    pub fn tester(self) -> u32 {
        let block = (thread::block_index() * self.factor + self.shift) % thread::grid_dim();
        if block < self.testers {
            block * thread::block_dim() + thread::index_in_block()
        } else {
            NOBODY
        }
    }

    /// How many lanes test.
    #[inline(always)]
    pub fn lanes(self) -> u32 {
        self.testers * thread::block_dim()
    }
}
