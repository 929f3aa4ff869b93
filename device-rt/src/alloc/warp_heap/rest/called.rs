//! The functions, and the calls of them.
//!
//! Their arguments are few words, which go through registers; more or larger ones go through memory.

use super::super::Geometry;
use super::super::quick::{Attempt, Quick};
use super::super::{Answer, Ask, WarpHeap};
use crate::arch::{Group, Words};
use core::arch::asm;
use warpheap_api::{DevicePtr, LaneMask, select};

/// In the flags: a heap could serve the request.
const POSSIBLE: u32 = 1 << 31;
/// In the flags: the quick way was tried.
const TRIED: u32 = 1 << 30;

/// The type of [`far`].
type Far = unsafe fn(u64, u32, u32, u32, u32, u32, u32, u32, u32) -> u64;
/// The type of [`again`].
type Again = unsafe fn(u64, u32, u32, u32, u32, u32, u32, u32, u32, u32) -> u64;

/// A function by its address: the compiler does not see which one is called, so that it is called as any unknown one is.
macro_rules! by_address {
    ($function:ident as $type:ty) => {{
        let address: u64;
        // SAFETY: the address of a function.
        unsafe {
            asm!("mov.u64 {}, {};", out(reg64) address, sym $function, options(pure, nomem, nostack));
        }
        // SAFETY: it is of this type.
        unsafe { core::mem::transmute::<u64, $type>(address) }
    }};
}

impl WarpHeap {
    /// Collective: serves the lanes of a group, none of which has a block yet. The ways part here, so that what the quick way
    /// knows need not be kept while lanes look near.
    #[inline(always)]
    pub(in super::super) fn serve(self, group: Group, ask: Ask, quick: Quick) -> Answer {
        if quick.tried {
            self.call_again(group, ask, quick.attempt)
        } else {
            let granule = self.call_near(group, ask);
            let mut answer = Answer { granule, code: 0 };
            // Who has a block goes along: searches are faster with more lanes.
            if group.any(granule == DevicePtr::NULL_GRANULE) {
                answer = self.call_far(group, ask, granule);
            }
            answer
        }
    }

    /// Collective: [`serve_near`](Self::serve_near).
    #[inline(always)]
    fn call_near(self, group: Group, ask: Ask) -> u32 {
        let (base, _) = self.words.to_address();
        let [data, chunks, entries, shape] = self.geometry.to_words();
        // SAFETY: they are of this heap, and of a group that makes the call together.
        #[rustfmt::skip]
        let granule = unsafe {
            near(
                base, data, chunks, entries, shape, group.lanes().lo,
                ask.granules, flags_of(ask),
            )
        };
        granule
    }

    /// Collective: [`again`].
    #[inline(always)]
    fn call_again(self, group: Group, ask: Ask, attempt: Attempt) -> Answer {
        let (base, _) = self.words.to_address();
        let [data, chunks, entries, shape] = self.geometry.to_words();
        let [chunk_held, old] = attempt.to_words();
        let again = by_address!(again as Again);
        // SAFETY: they are of this heap, and of a group that makes the call together.
        #[rustfmt::skip]
        let both = unsafe {
            again(
                base, data, chunks, entries, shape, group.lanes().lo,
                ask.granules, flags_of(ask), chunk_held, old,
            )
        };
        answer_of(both)
    }

    /// Collective: [`serve_far`](Self::serve_far).
    #[inline(always)]
    fn call_far(self, group: Group, ask: Ask, granule: u32) -> Answer {
        let (base, _) = self.words.to_address();
        let [data, chunks, entries, shape] = self.geometry.to_words();
        let far = by_address!(far as Far);
        // SAFETY: they are of this heap, and of a group that makes the call together.
        #[rustfmt::skip]
        let both = unsafe {
            far(
                base, data, chunks, entries, shape, group.lanes().lo,
                ask.granules, flags_of(ask), granule,
            )
        };
        answer_of(both)
    }

    /// Collective: [`serve_far`](Self::serve_far).
    #[inline(always)]
    fn far_here(self, group: Group, ask: Ask, granule: u32, tried: bool) -> Answer {
        let (base, _) = self.words.to_address();
        let [data, chunks, entries, shape] = self.geometry.to_words();
        // SAFETY: they are of this heap, and of a group that makes the call together.
        #[rustfmt::skip]
        let both = unsafe {
            far(
                base, data, chunks, entries, shape, group.lanes().lo,
                ask.granules, flags_of(ask) | select(tried, TRIED, 0), granule,
            )
        };
        answer_of(both)
    }

    /// Collective: [`serve_rest`](Self::serve_rest).
    #[inline(always)]
    pub(super) fn call_rest(self, group: Group, ask: Ask, granule: u32) -> Answer {
        let (base, _) = self.words.to_address();
        let [data, chunks, entries, shape] = self.geometry.to_words();
        // SAFETY: they are of this heap, and of a group that makes the call together.
        #[rustfmt::skip]
        let both = unsafe {
            rest(
                base, data, chunks, entries, shape, group.lanes().lo,
                ask.granules, flags_of(ask), granule,
            )
        };
        answer_of(both)
    }
}

/// The flags of a request: its alignment, and whether a heap could serve it.
#[inline(always)]
fn flags_of(ask: Ask) -> u32 {
    ask.align | select(ask.possible, POSSIBLE, 0)
}

/// An answer as one value.
#[inline(always)]
fn both_of(answer: Answer) -> u64 {
    answer.granule as u64 | (answer.code as u64) << 32
}

/// What [`both_of`] gave.
#[inline(always)]
fn answer_of(both: u64) -> Answer {
    Answer {
        granule: both as u32,
        code: (both >> 32) as u32,
    }
}

/// The heap, the group and the request of a call.
///
/// # Safety
/// They are those of the caller; its group makes the call together.
#[inline(always)]
unsafe fn parts_of(
    base: u64,
    geometry: [u32; 4],
    mask: u32,
    granules: u32,
    flags: u32,
) -> (WarpHeap, Group, Ask) {
    let geometry = Geometry::from_words(geometry);
    let heap = WarpHeap {
        // SAFETY: the caller's promise.
        words: unsafe { Words::from_address(base, geometry.words()) },
        geometry,
    };
    // SAFETY: the caller's promise.
    let group = unsafe { Group::of(LaneMask { lo: mask, hi: 0 }) };
    let ask = Ask {
        granules,
        align: flags & !(POSSIBLE | TRIED),
        possible: flags & POSSIBLE != 0,
    };
    (heap, group, ask)
}

/// [`WarpHeap::serve_near`].
///
/// # Safety
/// As [`parts_of`].
#[inline(never)]
#[rustfmt::skip]
#[allow(clippy::too_many_arguments)]
unsafe fn near(
    base: u64, data: u32, chunks: u32, entries: u32, shape: u32, mask: u32,
    granules: u32, flags: u32,
) -> u32 {
    let geometry = [data, chunks, entries, shape];
    // SAFETY: the caller's promise.
    let (heap, group, ask) = unsafe { parts_of(base, geometry, mask, granules, flags) };
    heap.serve_near(group, ask)
}

/// [`WarpHeap::second_home`], and far from there.
///
/// # Safety
/// As [`parts_of`].
#[inline(never)]
#[rustfmt::skip]
#[allow(clippy::too_many_arguments)]
unsafe fn again(
    base: u64, data: u32, chunks: u32, entries: u32, shape: u32, mask: u32,
    granules: u32, flags: u32, chunk_held: u32, old: u32,
) -> u64 {
    let geometry = [data, chunks, entries, shape];
    // SAFETY: the caller's promise.
    let (heap, group, ask) = unsafe { parts_of(base, geometry, mask, granules, flags) };
    let attempt = Attempt::from_words([chunk_held, old]);
    let granule = heap.second_home(group, ask, attempt);
    let mut answer = Answer { granule, code: 0 };
    // All lanes have a block, or none.
    if granule == DevicePtr::NULL_GRANULE {
        answer = heap.far_here(group, ask, granule, true);
    }
    both_of(answer)
}

/// [`WarpHeap::serve_far`].
///
/// # Safety
/// As [`parts_of`].
#[inline(never)]
#[rustfmt::skip]
#[allow(clippy::too_many_arguments)]
unsafe fn far(
    base: u64, data: u32, chunks: u32, entries: u32, shape: u32, mask: u32,
    granules: u32, flags: u32, granule: u32,
) -> u64 {
    let geometry = [data, chunks, entries, shape];
    // SAFETY: the caller's promise.
    let (heap, group, ask) = unsafe { parts_of(base, geometry, mask, granules, flags) };
    both_of(heap.serve_far(group, ask, granule, flags & TRIED != 0))
}

/// [`WarpHeap::serve_rest`].
///
/// # Safety
/// As [`parts_of`].
#[inline(never)]
#[rustfmt::skip]
#[allow(clippy::too_many_arguments)]
unsafe fn rest(
    base: u64, data: u32, chunks: u32, entries: u32, shape: u32, mask: u32,
    granules: u32, flags: u32, granule: u32,
) -> u64 {
    let geometry = [data, chunks, entries, shape];
    // SAFETY: the caller's promise.
    let (heap, group, ask) = unsafe { parts_of(base, geometry, mask, granules, flags) };
    both_of(heap.serve_rest(group, ask, granule))
}
