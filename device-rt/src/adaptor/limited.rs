//! A heap with a budget.
//!
//! One word counts the granules that are in use. A group of lanes asks for all of its blocks by one addition, and gives back by one
//! subtraction. If that does not fit, each of its lanes asks for itself.
//!
//! *Never over the budget.* Who adds and finds the word beyond the budget afterwards gets nothing, and takes back what it added. So
//! what was granted and not given back is at most the budget, and it is given back behind the inner allocator's free.
//!
//! *The word does not wrap.* A budget is at most 2^31 granules. An addition is at most [`MOST_ADDED`], and a lane has one at a time
//! that was not granted: on 2^19 lanes at the same time, more than devices run, these are less than 2^31. Requests for more change
//! the word by a compare-and-swap.

use super::within::{handle_within, moved_as_within, named_as_within};
use crate::alloc::fail;
use crate::arch::{Group, Words};
use crate::sync::group_sum;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapCounters, HeapCounts, HeapHandle, HeapMemory,
    HeapParams, HeapStats, HeapUsage, Layout, Reset, header, layout, least, select,
};

/// Refuses requests beyond a budget, as if the heap were exhausted; passes all others on to the allocator within.
///
/// The host sets the budget when it makes the heap: see `LimitedConfig`. A block counts as what the allocator within rounds it to.
/// `Pool::stats` says how much is in use. One atomic addition per warp and call, all on one word.
///
/// A block that is resized counts as its new size. While it may have to move, both count, as both are there; but not where the two
/// sizes are rounded to the same one: an allocator that moves a block even then holds one of both beyond the budget meanwhile.
///
/// Where lanes meet at the end of the budget, a request that would still fit may be refused, because another one was asking for the
/// same bytes and then got none.
#[derive(Clone, Copy)]
pub struct Limited<A> {
    inner: A,
}

/// Most granules of a budget: 32 GiB.
#[cfg(feature = "std")]
pub(crate) const MOST_BUDGET: u32 = 1 << 31;
/// Most granules of an addition: 64 KiB.
const MOST_ADDED: u32 = 1 << 12;
/// Tries that a request may lose to others before it is given up.
const TRIES: u32 = 1 << 10;

handle_within!(Limited);

impl<A: DeviceAlloc<Memory = Words>> Limited<A> {
    /// Granules of the largest request that the inner allocator serves.
    const MOST_GRANULES: u32 = {
        let granules = A::CAPS
            .max_size
            .div_ceil(DevicePtr::<u8>::GRANULE_BYTES as u64);
        match granules < u32::MAX as u64 {
            true => granules as u32,
            false => u32::MAX - 1,
        }
    };

    /// The greatest alignment that it serves. Not looked up in a kernel: on Vulkan there may be no numbers of 64 bits, of which
    /// `CAPS` has one.
    const MOST_ALIGN: usize = A::CAPS.max_align as usize;

    /// Granules that a block of this layout counts as; 0 for what the inner allocator never serves, which it refuses itself.
    #[inline(always)]
    fn cost(self, layout: Layout) -> u32 {
        let served = (layout::granules(layout) <= Self::MOST_GRANULES)
            & (layout.align() <= Self::MOST_ALIGN);
        select(served, layout::granules(self.inner.rounded(layout)), 0)
    }

    /// Takes granules of the budget for the calling lane, all of them or none; 0, or the code of the error.
    #[inline(always)]
    fn take(self, granules: u32) -> u32 {
        let words = self.inner.header();
        let budget = words.load(header::WORD_BUDGET);
        if budget == 0 {
            return 0;
        }
        let group = Group::here();
        let total = group_sum(group, least(granules, MOST_ADDED + 1)).total;
        let mut code = 0;
        if total != 0 {
            code = AllocError::Exhausted.code();
            if total <= MOST_ADDED {
                if group.leads() {
                    code = grant(words, budget, total);
                }
                code = group.broadcast(code);
            }
        }
        // Some of the lanes may have what is left.
        if (code != 0) & (granules != 0) {
            code = grant(words, budget, granules);
        }
        select(granules != 0, code, 0)
    }

    /// Gives granules of the calling lane back.
    #[inline(always)]
    fn give_back(self, granules: u32) {
        let words = self.inner.header();
        if words.load(header::WORD_BUDGET) == 0 {
            return;
        }
        let group = Group::here();
        if group.any(granules != 0) {
            // All of them lie in one heap, so the sum does not wrap.
            let total = group_sum(group, granules).total;
            if group.leads() {
                words.fetch_sub(header::WORD_SPENT, total);
            }
        }
    }
}

/// Takes granules of a budget; 0, or the code of the error.
#[inline(always)]
fn grant(words: Words, budget: u32, granules: u32) -> u32 {
    let mut code = AllocError::Contended.code();
    let mut tries = 0;
    while tries < TRIES {
        let spent = words.load(header::WORD_SPENT);
        // Beyond the budget is what others are about to take back: a look tells nothing.
        if spent <= budget {
            let mut granted = false;
            if granules > budget - spent {
                code = AllocError::Exhausted.code();
                tries = TRIES;
            } else if granules <= MOST_ADDED {
                let before = words.fetch_add(header::WORD_SPENT, granules);
                granted = (before <= budget) & (granules <= budget.wrapping_sub(before));
                if !granted {
                    words.fetch_sub(header::WORD_SPENT, granules);
                }
            } else {
                let next = spent + granules;
                granted = words.compare_exchange(header::WORD_SPENT, spent, next) == spent;
            }
            if granted {
                code = 0;
                tries = TRIES;
            }
        }
        tries += 1;
    }
    code
}

// SAFETY: what is handed out is the inner allocator's, and goes back to it.
unsafe impl<A: DeviceAlloc<Memory = Words>> DeviceAlloc for Limited<A> {
    named_as_within!();
    moved_as_within!();
    const CAPS: Caps = A::CAPS;

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let cost = self.cost(layout);
        let code = self.take(cost);
        if code != 0 {
            return fail(self.inner.header(), layout, AllocError::from_code(code));
        }
        let result = self.inner.malloc(layout);
        self.give_back(select(result.is_err(), cost, 0));
        result
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        let cost = select(ptr.is_null(), 0, self.cost(layout));
        // SAFETY: the caller's promise.
        unsafe { self.inner.free(ptr, layout) };
        self.give_back(cost);
    }

    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let old = self.cost(layout);
        let resized = layout::aligned(new_size, layout.align());
        let new = self.cost(resized);
        // A block that need not move is resized at the end of the budget, too.
        let moves = old != new;
        let code = self.take(select(moves, new, 0));
        if code != 0 {
            return fail(self.inner.header(), resized, AllocError::from_code(code));
        }
        // SAFETY: the caller's promise.
        let result = unsafe { self.inner.realloc(ptr, layout, new_size) };
        self.give_back(select(moves, select(result.is_ok(), old, new), 0));
        result
    }

    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        self.inner.rounded(layout)
    }
}

// SAFETY: the inner allocator resets, and nothing of the budget is in use then.
unsafe impl<A: Reset<Memory = Words>> Reset for Limited<A> {
    #[inline(always)]
    unsafe fn reset(self, index: u32, count: u32) {
        if index == 0 {
            self.inner.header().store(header::WORD_SPENT, 0);
        }
        // SAFETY: the caller's promise.
        unsafe { self.inner.reset(index, count) }
    }
}

impl<A: HeapStats<Memory = Words>> HeapStats for Limited<A> {
    #[inline(always)]
    fn usage(self, index: u32, count: u32) -> HeapUsage {
        self.inner.usage(index, count)
    }
}

impl<A: HeapCounters<Memory = Words>> HeapCounters for Limited<A> {
    fn counts(self) -> HeapCounts {
        self.inner.counts()
    }
}
