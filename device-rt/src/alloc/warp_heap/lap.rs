//! Searches that warps share, so that many that ask in vain know soon.
//!
//! No word says that a heap is full, since frees tell nobody. So who finds nothing has to look at every chunk, and a
//! launch whose lanes all ask in vain would do that once for each warp. Here they do it together. The pool is cut into
//! *segments* of 32 chunks; a counter of the row hands them out, *lap* after lap. A warp looks at one segment after the
//! other until a whole lap was looked at that began after the warp came. If nobody found anything meanwhile, there is
//! nothing for it either.
//!
//! Nobody waits: a warp always has a segment of its own to look at. Where somebody found room meanwhile, or what may
//! become room, it waits for another lap; where that goes on, or others do not help, it goes on alone.
//!
//! | word of the row | what |
//! |---|---|
//! | given | segments handed out; a lap is a power of two of them |
//! | looked, 4 to 64 | segments looked at, in laps that are equal modulo 4 to 64: as many as can be under way |
//! | doubts | segments of which somebody cannot say that nothing is left |

use super::WarpHeap;
use super::row::Row;
use super::walk::{Phase, Walk};
use crate::arch::{self, Group};
use warpheap_api::{HeapMemory, least, select};

/// Two to this power chunks are a segment.
const SEGMENT_SHIFT: u32 = 5;

/// Two to this power segments are a lap, at least, so that all laps that are under way have segments for all warps that
/// run at a time. A small pool is looked at more than once in a lap. In the emulator laps are short, so that warps meet.
const LAP_SHIFT: u32 = if arch::ON_DEVICE { 8 } else { 3 };

/// In a pool of no more segments than this a warp is as fast alone.
const FEW: u32 = if arch::ON_DEVICE { 32 } else { 1 };

/// After so many segments a warp goes on alone, unless others look at so many times as many.
const HELPERS: u32 = 16;

/// Laps that a warp waits for before it goes on alone.
const LAPS: u32 = 8;

/// What a warp knows of the lap that it waits for.
const OPEN: u32 = 0;
const CLEAN: u32 = 1;
const DOUBTFUL: u32 = 2;
const ALONE: u32 = 3;

impl WarpHeap {
    /// Collective: whether a search for blocks of a row has more chunks to look at.
    #[inline(always)]
    pub(super) fn goes_on(self, group: Group, row: Row, walk: &mut Walk) -> bool {
        let mut verdict = OPEN;
        // Each round begins a segment, or the last phase.
        while (walk.phase != Phase::Whole) & (walk.done >= walk.length) {
            if walk.phase == Phase::Laps {
                verdict = self.end_segment(group, row, walk);
            } else if self.geometry.places() >> SEGMENT_SHIFT <= FEW {
                verdict = ALONE;
            }
            let again = (verdict == DOUBTFUL) & (walk.laps < LAPS);
            if again | (verdict == OPEN) {
                self.begin_segment(group, row, walk, again | (walk.phase == Phase::Near));
            } else {
                // Segments may begin behind the last chunk: places are a power of two.
                let start = self.geometry.wrapped(walk.start);
                walk.begin(Phase::Whole, start, self.geometry.chunks);
            }
        }
        (verdict != CLEAN) & ((walk.phase != Phase::Whole) | walk.goes_on())
    }

    /// Collective: a search that found something in a segment says so.
    #[inline(always)]
    pub(super) fn end_search(self, group: Group, row: Row, walk: &mut Walk) {
        if walk.phase == Phase::Laps {
            walk.doubt(true);
            self.end_segment(group, row, walk);
        }
    }

    /// Two to this power segments are a lap.
    #[inline(always)]
    fn lap_shift(self) -> u32 {
        let shift = self.geometry.places().trailing_zeros();
        let all = shift - least(shift, SEGMENT_SHIFT);
        select(all > LAP_SHIFT, all, LAP_SHIFT)
    }

    /// Collective: takes the next segment; `first`: the first of those before the lap that the warp waits for.
    #[inline(always)]
    fn begin_segment(self, group: Group, row: Row, walk: &mut Walk, first: bool) {
        let (words, geometry) = (self.words, self.geometry);
        let (mut given, mut doubts) = (0, 0);
        let leads = group.leads();
        if leads {
            doubts = words.load(geometry.doubts_word(row.index));
        }
        // The doubts come before the segment, and who takes a later one sees what the group freed before.
        group.release();
        if leads {
            given = words.fetch_add(geometry.given_word(row.index), 1);
        }
        group.acquire();
        let given = group.broadcast(given);
        let doubts = group.broadcast(doubts);
        let start = (given << SEGMENT_SHIFT) & (geometry.places() - 1);
        let left = geometry.chunks - least(start, geometry.chunks);
        walk.begin(Phase::Laps, start, least(left, 1 << SEGMENT_SHIFT));
        walk.segment = given;
        walk.segments = select(first, 1, walk.segments + 1);
        walk.laps += first as u32;
        walk.first = select(first, given, walk.first);
        walk.doubts_before = select(first, doubts, walk.doubts_before);
    }

    /// Collective: counts the segment that was looked at, and asks what came of the lap that began behind the warp's
    /// first one.
    #[inline(always)]
    fn end_segment(self, group: Group, row: Row, walk: &Walk) -> u32 {
        let (words, geometry) = (self.words, self.geometry);
        let shift = self.lap_shift();
        let mut verdict = OPEN;
        if group.leads() {
            if walk.doubts() {
                words.fetch_add(geometry.doubts_word(row.index), 1);
            }
            // Doubts before what counts.
            words.release();
            words.fetch_add(geometry.looked_word(row.index, walk.segment >> shift), 1);
            let lap = (walk.first >> shift) + 1;
            let looked = words.load(geometry.looked_word(row.index, lap));
            words.acquire();
            let doubts = words.load(geometry.doubts_word(row.index));
            let given = words.load(geometry.given_word(row.index));
            let laps = geometry.laps_shift();
            let all = ((lap >> laps) + 1) << shift;
            // Such a word counts that part of the segments that were handed out, and wraps when they do.
            let complete = looked.wrapping_sub(all) << laps < 1 << 31;
            // Of the lap that is counted in the same word next none was handed out.
            let since = given.wrapping_sub(walk.first);
            let alone = (since >> shift >= 1 << laps)
                | ((walk.segments >= HELPERS) & (since < walk.segments * HELPERS));
            verdict = select(complete, CLEAN, verdict);
            verdict = select(doubts != walk.doubts_before, DOUBTFUL, verdict);
            verdict = select(alone, ALONE, verdict);
        }
        group.barrier();
        group.broadcast(verdict)
    }
}
