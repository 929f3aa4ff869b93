//! The function, and the call of it.

use super::super::Geometry;
use super::super::quick::{Attempt, Quick};
use super::super::{Answer, Ask, WarpHeap};
use crate::arch::{Group, Words};
use warpheap_api::LaneMask;

/// In the flags: a heap could serve the request.
const POSSIBLE: u32 = 1;
/// In the flags: the quick way was tried.
const TRIED: u32 = 2;

impl WarpHeap {
    /// Collective: serves the lanes that have no block yet.
    #[inline(always)]
    pub(in super::super) fn rest(self, group: Group, ask: Ask, quick: Quick) -> Answer {
        let (base, len) = self.words.to_address();
        let [p0, p1, p2, p3, p4, p5, p6, p7] = self.geometry.params();
        let [chunk_held, old] = quick.attempt.to_words();
        let flags = ask.possible as u32 * POSSIBLE | quick.tried as u32 * TRIED;
        // SAFETY: they are of this heap, and of a group that makes the call together.
        #[rustfmt::skip]
        let both = unsafe {
            rest(
                base, len, p0, p1, p2, p3, p4, p5, p6, p7,
                group.lanes().lo, ask.granules, ask.align, flags,
                quick.granule, chunk_held, old, quick.wanted,
            )
        };
        Answer {
            granule: both as u32,
            code: (both >> 32) as u32,
        }
    }
}

/// Words alone, and an answer of two: they are passed in registers, larger values through memory.
///
/// # Safety
/// The first ten are a heap's words and parameters; `mask` the lanes that make the call together.
#[inline(never)]
#[rustfmt::skip]
#[allow(clippy::too_many_arguments)]
unsafe fn rest(
    base: u64, len: u64, p0: u32, p1: u32, p2: u32, p3: u32, p4: u32, p5: u32, p6: u32, p7: u32,
    mask: u32, granules: u32, align: u32, flags: u32,
    granule: u32, chunk_held: u32, old: u32, wanted: u32,
) -> u64 {
    let heap = WarpHeap {
        // SAFETY: the caller's promise.
        words: unsafe { Words::from_address(base, len) },
        geometry: Geometry::new([p0, p1, p2, p3, p4, p5, p6, p7]),
    };
    let ask = Ask {
        granules,
        align,
        possible: flags & POSSIBLE != 0,
    };
    let quick = Quick {
        granule,
        attempt: Attempt::from_words([chunk_held, old]),
        wanted,
        tried: flags & TRIED != 0,
        serves: true,
    };
    // SAFETY: the caller's promise.
    let group = unsafe { Group::of(LaneMask { lo: mask, hi: 0 }) };
    let answer = heap.serve(group, ask, quick);
    answer.granule as u64 | (answer.code as u64) << 32
}
