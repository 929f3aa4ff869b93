//! Lanes of a warp that use the same container at the same time.

use crate::arch;
use warpheap_api::{HeapMemory, LaneMask};

/// The lanes that are here with the calling one, and those of them that use the same words.
#[derive(Clone, Copy)]
pub(super) struct Team {
    /// All lanes that are here. Every collective operation of a round is for these.
    pub lanes: LaneMask,
    /// Those that came for the same words: never empty.
    pub members: LaneMask,
    /// The first member.
    pub leader: u32,
    /// Members before the calling lane.
    pub rank: u32,
    /// Number of members.
    pub count: u32,
}

impl Team {
    /// Collective over `lanes`, those that are [active](arch::active) where the caller is: those of them that
    /// were given the same `word`. Lanes that do different things to a container give different words of it.
    #[inline(always)]
    pub fn meet(lanes: LaneMask, word: usize) -> Self {
        let mut members = arch::match_any(lanes, word as u32);
        if size_of::<usize>() > 4 {
            // In two steps, since a shift by all bits of a word is none.
            members = members.and(arch::match_any(lanes, (word >> 16 >> 16) as u32));
        }
        Team {
            lanes,
            members,
            leader: members.first(),
            rank: members.rank(arch::lane()),
            count: members.count(),
        }
    }

    /// Whether the calling lane is the first member.
    #[inline(always)]
    pub fn leads(self) -> bool {
        arch::lane() == self.leader
    }

    /// Collective over all lanes: the leader's `value`.
    #[inline(always)]
    pub fn hear(self, value: u32) -> u32 {
        arch::shuffle(self.lanes, value, self.leader)
    }

    /// Collective over all lanes: the members whose `vote` is true.
    #[inline(always)]
    pub fn ballot(self, vote: bool) -> LaneMask {
        arch::ballot(self.lanes, vote).and(self.members)
    }
}

/// A slot of a block that members of a team take by one addition to a counter: the count before, where
/// slots after `last` are not there. Nothing is added to a counter that is beyond it, so it never wraps.
#[inline(always)]
pub(super) fn take<M: HeapMemory>(words: M, counter: usize, last: u32, number: u32) -> u32 {
    let mut count = words.load(counter);
    if count <= last {
        count = words.fetch_add(counter, number);
    }
    count
}
