//! Counting what a heap hands out and takes back.

use super::within::{handle_within, moved_as_within, named_as_within};
use crate::arch::{self, Group, Words};
use crate::sync::group_sum;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapCounters, HeapCounts, HeapHandle, HeapMemory,
    HeapParams, HeapStats, HeapUsage, Layout, Reset, header,
};

/// Counts mallocs, frees and their bytes in the heap header, from where `Pool::stats` and
/// [`HeapCounters`] read them. One or two atomic additions per warp and call, spread over 32 places.
#[derive(Clone, Copy)]
pub struct Counted<A> {
    inner: A,
}

/// Most bytes of a single request that enter the 32-bit sum of a warp of 64 lanes without wrapping.
const MOST_SUMMED: u32 = u32::MAX / 64;

handle_within!(Counted);

impl<A: DeviceAlloc<Memory = Words>> Counted<A> {
    /// Adds one event of `bytes` bytes for each active lane that `happened` is true for. Lanes that count another event at the same
    /// time are at another place: the caller's.
    #[inline(always)]
    #[track_caller]
    fn count(self, happened: bool, bytes: usize, events: usize, sums: usize) {
        let words = self.inner.header();
        let stripe = header::WORD_COUNTERS
            + (arch::block_index() as usize % header::STRIPES) * header::STRIPE_WORDS;
        let group = Group::here();
        let small = happened && bytes <= MOST_SUMMED as usize;
        let number = group.ballot(happened).count();
        let sum = group_sum(group, if small { bytes as u32 } else { 0 }).total;
        if group.leads() && number != 0 {
            words.fetch_add(stripe + events, number);
            add_wide(words, stripe + sums, sum, 0);
        }
        if happened && !small {
            // In two steps, since usize has 32 bits on some targets, where the high word is zero.
            let high = (bytes >> 16 >> 16) as u32;
            add_wide(words, stripe + sums, bytes as u32, high);
        }
    }
}

/// Adds to a 64-bit number in two words: each wrap of the low word is seen by exactly one adder,
/// who carries it.
#[inline(always)]
fn add_wide(words: Words, at: usize, low: u32, high: u32) {
    let old = words.fetch_add(at, low);
    let carry = (old.wrapping_add(low) < low) as u32;
    if carry + high != 0 {
        words.fetch_add(at + 1, carry + high);
    }
}

// SAFETY: every request goes to the inner allocator unchanged.
unsafe impl<A: DeviceAlloc<Memory = Words>> DeviceAlloc for Counted<A> {
    named_as_within!();
    moved_as_within!();
    const CAPS: Caps = A::CAPS;

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let result = self.inner.malloc(layout);
        self.count(
            result.is_ok(),
            layout.size(),
            header::COUNT_MALLOCS,
            header::COUNT_MALLOC_BYTES,
        );
        result
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.count(
            !ptr.is_null(),
            layout.size(),
            header::COUNT_FREES,
            header::COUNT_FREE_BYTES,
        );
        // SAFETY: the caller's promise.
        unsafe { self.inner.free(ptr, layout) }
    }

    #[inline(always)]
    unsafe fn malloc_warp(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        let result = unsafe { self.inner.malloc_warp(layout) };
        self.count(
            result.is_ok(),
            layout.size(),
            header::COUNT_MALLOCS,
            header::COUNT_MALLOC_BYTES,
        );
        result
    }

    #[inline(always)]
    unsafe fn free_warp(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.count(
            !ptr.is_null(),
            layout.size(),
            header::COUNT_FREES,
            header::COUNT_FREE_BYTES,
        );
        // SAFETY: the caller's promise.
        unsafe { self.inner.free_warp(ptr, layout) }
    }

    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        self.inner.rounded(layout)
    }
}

// SAFETY: the inner allocator resets; it leaves the counters at zero.
unsafe impl<A: Reset<Memory = Words>> Reset for Counted<A> {
    #[inline(always)]
    unsafe fn reset(self, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.inner.reset(index, count) }
    }
}

impl<A: HeapStats<Memory = Words>> HeapStats for Counted<A> {
    #[inline(always)]
    fn usage(self, index: u32, count: u32) -> HeapUsage {
        self.inner.usage(index, count)
    }
}

impl<A: DeviceAlloc<Memory = Words>> HeapCounters for Counted<A> {
    fn counts(self) -> HeapCounts {
        let words = self.inner.header();
        let mut counts = HeapCounts {
            mallocs: 0,
            frees: 0,
        };
        let mut stripe = 0;
        while stripe < header::STRIPES {
            let at = header::WORD_COUNTERS + stripe * header::STRIPE_WORDS;
            counts.mallocs = counts
                .mallocs
                .wrapping_add(words.load(at + header::COUNT_MALLOCS));
            counts.frees = counts
                .frees
                .wrapping_add(words.load(at + header::COUNT_FREES));
            stripe += 1;
        }
        counts
    }
}
