//! Lanes of a warp that are at the same place together, and what they do there.

use super::target;
use super::target::{lane, warp_width};
use warpheap_api::LaneMask;

/// The lanes of one warp that reached a place together: a *coalesced group*. The only way to the warp's
/// collective operations.
///
/// A group is made by the lanes that are [here](Group::here), and holds for what follows in the same function:
/// its lanes may part (`if group.leads() { … }`) and meet again at the next collective operation. Every method
/// that says *collective* must be reached by all lanes of the group and no others, in the same order; lanes
/// that do not take part in what is done go along with a vote or a value that does not count. The emulator
/// checks this; on Vulkan, where the hardware takes whichever lanes are there, it is a promise, and lanes meet
/// again because modules are loaded with maximal reconvergence, or groups have one lane.
///
/// With `FULL` the group is known to be the whole warp: then masks are constants, for which PTX has shorter
/// code. [`is_full`](Group::is_full) and [`full`](Group::full) lead there, behind one branch.
#[derive(Clone, Copy)]
pub struct Group<const FULL: bool = false> {
    lanes: LaneMask,
}

impl Group {
    /// The lanes that are here together with the calling one. Which ones these are is up to the device: it may
    /// split those that could be together into any groups.
    #[inline(always)]
    #[track_caller]
    pub fn here() -> Self {
        Group {
            lanes: target::active(),
        }
    }

    /// These lanes, which got to know each other in some other way.
    ///
    /// # Safety
    /// The calling lane is one of them, they are of one warp, and all of them make this group at this place.
    #[inline(always)]
    pub unsafe fn of(lanes: LaneMask) -> Self {
        Group { lanes }
    }

    /// Whether the group is the whole warp, and it pays to say so. Always false on devices whose masks cost nothing.
    #[inline(always)]
    pub fn is_full(self) -> bool {
        target::MASKS_COST && self.lanes == LaneMask::full(warp_width())
    }

    /// The same group, of which [`is_full`](Group::is_full) was true.
    #[inline(always)]
    pub fn full(self) -> Group<true> {
        Group { lanes: self.lanes }
    }
}

impl<const FULL: bool> Group<FULL> {
    /// Its lanes.
    #[inline(always)]
    pub fn lanes(self) -> LaneMask {
        if FULL {
            LaneMask::full(warp_width())
        } else {
            self.lanes
        }
    }

    /// The same group without the knowledge that it is the whole warp.
    #[inline(always)]
    pub fn any_size(self) -> Group {
        Group {
            lanes: self.lanes(),
        }
    }

    /// Number of lanes.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.lanes().count()
    }

    /// Number of lanes before the calling one.
    #[inline(always)]
    pub fn rank(self) -> u32 {
        self.lanes().rank(lane())
    }

    /// The lane that acts for all: the highest, since that is one instruction.
    #[inline(always)]
    pub fn leader(self) -> u32 {
        self.lanes().last()
    }

    /// Whether the calling lane acts for all.
    #[inline(always)]
    pub fn leads(self) -> bool {
        lane() == self.leader()
    }

    /// Collective: the lanes whose `vote` is true.
    #[inline(always)]
    pub fn ballot(self, vote: bool) -> LaneMask {
        target::ballot(self.lanes(), vote)
    }

    /// Collective: whether the `vote` of any lane is true.
    #[inline(always)]
    pub fn any(self, vote: bool) -> bool {
        !self.ballot(vote).is_empty()
    }

    /// Collective: whether the `vote` of each lane is true.
    #[inline(always)]
    pub fn all(self, vote: bool) -> bool {
        self.ballot(!vote).is_empty()
    }

    /// Collective: the `value` of lane `source`, a lane of the group.
    #[inline(always)]
    pub fn shuffle(self, value: u32, source: u32) -> u32 {
        target::shuffle(self.lanes(), value, source)
    }

    /// Collective: the leader's `value`.
    #[inline(always)]
    pub fn broadcast(self, value: u32) -> u32 {
        self.shuffle(value, self.leader())
    }

    /// Collective: the leader makes the `call`, and each lane gets its answer.
    #[inline(always)]
    #[track_caller]
    pub fn once(self, call: impl FnOnce() -> (u32, u32)) -> (u32, u32) {
        let (mut first, mut second) = (0, 0);
        if self.leads() {
            (first, second) = call();
        }
        self.barrier();
        (self.broadcast(first), self.broadcast(second))
    }

    /// Collective: the lanes whose `key` is the calling lane's.
    #[inline(always)]
    pub fn match_any(self, key: u32) -> LaneMask {
        target::match_any(self.lanes(), key)
    }

    /// Collective: waits for all lanes, and orders their memory accesses among themselves.
    #[inline(always)]
    #[track_caller]
    pub fn barrier(self) {
        target::warp_barrier(self.lanes());
    }

    /// Collective: what comes before a word that hands memory over, as a free does it. *Free releases.*
    ///
    /// Afterwards any lane of the group may write that word for all. The barrier comes first: it orders what each
    /// lane did to its block before what the others do from here on, so the fence of whoever writes the word
    /// covers the accesses of all lanes, not only its own (PTX: causality order runs through the barrier, and a
    /// fence is cumulative; Vulkan: what the barrier made visible in the subgroup is made available to the
    /// device by the fence). A fence before the barrier would cover the lane's own accesses alone.
    #[inline(always)]
    #[track_caller]
    pub fn release(self) {
        self.barrier();
        target::release();
    }

    /// Collective: what comes after a word was read that handed memory over, as a malloc does it. *Malloc
    /// acquires.*
    ///
    /// Any lane of the group may have read that word for the others, before. Here the fence comes first: it
    /// orders what the reader does from here on after what the former owner did, and the barrier passes that on
    /// to the lanes that it read for.
    #[inline(always)]
    #[track_caller]
    pub fn acquire(self) {
        target::acquire();
        self.barrier();
    }
}
