//! The ways of malloc that most launches of one size do not take: what is left to do where the quick way of a whole warp
//! is not the right one, or found nothing.
//!
//! | step | who | on CUDA |
//! |---|---|---|
//! | near | teams that have no home, where most find something | a function whose registers are the kernel's |
//! | far | teams at their homes, and those that found nothing | a function that saves the kernel's registers |
//! | rest | units, runs, and searches | another one |
//!
//! In place of each call they would cost more than the calls: registers that kernels then keep in memory, and code that the
//! caches have no room for. A function called by its name shares the kernel's registers: nothing is saved, but if both
//! together need more than there are, the kernel's variables lie in memory all the time, also in loops that rarely call. One
//! called by its address saves the registers that it uses, at each call. So what is small and called often is called the
//! first way, all else the second. SPIR-V has no calls that keep pointers to a heap, and drivers put all code in place.

use super::quick::{Attempt, Quick};
use super::{Answer, Ask, WarpHeap};
use crate::arch::{self, Group, where_calls, where_no_calls};
use warpheap_api::{DevicePtr, HeapMemory, select};

where_calls! {
    mod called;
}

impl WarpHeap {
    /// Collective: a whole warp that tried the quick way in vain puts back what it reached for. Where its home is another class's,
    /// it reaches in the other half of the pool, in the chunk that the row's directory has at this place from then on.
    #[inline(always)]
    fn second_home(self, group: Group, ask: Ask, attempt: Attempt) -> u32 {
        let (_, class) = self.class_of(ask);
        let mut first = DevicePtr::NULL_GRANULE;
        if group.leads() {
            let (place, word) = Self::whole_home(class);
            self.put_back(word, 32, attempt, u32::MAX);
            if !attempt.held() {
                let chunk = self.geometry.other_home(class.granules, place);
                let second = self.reach(class, word, chunk, u32::MAX, 32);
                if second.held() & (second.old == 0) {
                    first = self.block_zero(chunk, word, class);
                    if word == 0 {
                        let at = self.geometry.directory_word(class.index, place);
                        self.words.store(at, chunk + 1);
                    }
                } else {
                    self.put_back(word, 32, second, u32::MAX);
                }
            }
        }
        group.barrier();
        group.acquire();
        let first = group.broadcast(first);
        let granule = first.wrapping_add(arch::lane() * class.granules);
        select(first == DevicePtr::NULL_GRANULE, first, granule)
    }

    /// Collective: serves the lanes whose `granule` is the null handle's.
    #[inline(always)]
    fn serve_far(self, group: Group, ask: Ask, granule: u32, tried: bool) -> Answer {
        let (slab, _) = self.class_of(ask);
        let mut answer = Answer { granule, code: 0 };
        if group.any(slab & (granule == DevicePtr::NULL_GRANULE)) {
            answer.granule = self.serve_teams(group, ask, granule, tried);
        }
        if group.any(answer.granule == DevicePtr::NULL_GRANULE) {
            answer = self.call_rest(group, ask, answer.granule);
        }
        answer
    }
}

where_no_calls! {
    impl WarpHeap {
        /// Collective: serves the lanes of a group, none of which has a block yet. All that follows is in one place.
        #[inline(always)]
        pub(super) fn serve(self, group: Group, ask: Ask, quick: Quick) -> Answer {
            let granule = if quick.tried {
                self.second_home(group, ask, quick.attempt)
            } else {
                self.serve_near(group, ask)
            };
            let mut answer = Answer { granule, code: 0 };
            // Who has a block goes along: searches are faster with more lanes.
            if group.any(granule == DevicePtr::NULL_GRANULE) {
                answer = self.serve_far(group, ask, granule, quick.tried);
            }
            answer
        }

        /// Collective: [`serve_rest`](Self::serve_rest).
        #[inline(always)]
        fn call_rest(self, group: Group, ask: Ask, granule: u32) -> Answer {
            self.serve_rest(group, ask, granule)
        }
    }
}
