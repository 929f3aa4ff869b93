//! The list-based allocators that ScatterAlloc is compared with: `SizeList` and `MpList`.
//!
//! Steinberger and others, *ScatterAlloc* (2012), §4 and §7: memory is a row of *segments*, each in use or
//! free. Free segments are kept in lists by size, ten *bins*; a request takes the first segment that fits
//! of the first bin that can have one, splits it, and goes on to larger bins if there is none. A segment
//! that is freed swallows the free ones behind it. `SizeList` has one set of bins; `MpList` has one for each
//! multiprocessor.
//!
//! | file | what |
//! |---|---|
//! | `geometry` | where the table, the bins and the segments lie |
//! | `segment` | the word of a segment: claim, cut, give back |
//! | `bins` | the lists |
//! | `top` | memory that was never used |
//! | `search` | the first fit |
//! | `serve` | a warp's requests, in rounds |
//! | `sweep` | the whole row of segments, for who found nothing |
//!
//! What differs from the paper: the words of a segment lie in a table and not before its block, so that what
//! somebody else does with a segment that was swallowed cannot reach the links of a list; a list is taken as a
//! whole and put back, never waited for; lanes of a warp that ask for the same size search as one and share
//! a segment; memory behind the last segment (dlmalloc's *top*) is handed out by an addition; and a request
//! that finds nothing merges what can be merged before it fails.

mod bins;
mod geometry;
mod search;
mod segment;
mod serve;
mod sweep;
mod top;

pub(crate) use geometry::{
    BINS_WORD, END, FIRST_WORD, LEAST_SHIFT, MOST_SHIFT, PARAM_DATA, PARAM_SETS, PARAM_SHIFT,
    PARAM_TABLE, PARAM_UNITS, SET_WORDS, TOP_WORD,
};
pub(crate) use segment::{is_free, size_of};

use super::fail;
use crate::arch::{self, Group, Words};
use geometry::Geometry;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
    least, select,
};

/// Granules of the largest request.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;
/// Segments of a list that the first look passes over as too small before it goes on to the next bin.
const FEW: u32 = 32;
/// Segments of a list that the later looks pass over.
const MANY: u32 = 1 << 12;
/// Rounds after which a team merges although others have lists in their hands.
const MERGES: u32 = 8;

/// One set of bins for all: `SegmentLists<false>`.
pub type SizeList = SegmentLists<false>;
/// A set of bins for each multiprocessor: `SegmentLists<true>`.
pub type MpList = SegmentLists<true>;

/// A first-fit allocator with lists of free segments by size; use it as [`SizeList`] or [`MpList`].
#[derive(Clone, Copy)]
pub struct SegmentLists<const PER_PROCESSOR: bool> {
    words: Words,
    geometry: Geometry,
}

/// What is asked for, in units.
#[derive(Clone, Copy)]
struct Ask {
    /// Size, a multiple of the alignment.
    size: u32,
    /// Alignment of the block in the heap, a power of two.
    align: u32,
}

/// Segments of one size side by side that a team got.
#[derive(Clone, Copy)]
struct Row {
    /// Unit of the first one.
    first: u32,
    /// How many.
    count: u32,
}

impl Row {
    const NONE: Row = Row { first: 0, count: 0 };
}

impl<const PER_PROCESSOR: bool> HeapHandle for SegmentLists<PER_PROCESSOR> {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        SegmentLists {
            words,
            geometry: Geometry::new(params),
        }
    }
}

impl<const PER_PROCESSOR: bool> SegmentLists<PER_PROCESSOR> {
    /// The request in units; the size is `u32::MAX` if no heap serves it.
    #[inline(always)]
    fn ask(self, layout: Layout) -> Ask {
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let shift = self.geometry.shift;
        let units = (granules >> shift) + (granules & ((1 << shift) - 1) != 0) as u32;
        let align_units = align >> shift;
        let align_units = select(align_units == 0, 1, align_units);
        let size = units.wrapping_add(align_units - 1) & !(align_units - 1);
        let possible = (granules <= MOST_GRANULES) & (align <= MOST_ALIGN);
        Ask {
            size: select(possible, size, u32::MAX),
            align: align_units,
        }
    }

    /// The set of bins that the calling lane begins with.
    #[inline(always)]
    fn home(self) -> u32 {
        if PER_PROCESSOR {
            arch::processor() % self.geometry.sets
        } else {
            0
        }
    }

    /// Blocks from everywhere, up to `most` side by side: all lists, the top, and the row of all segments.
    ///
    /// The first round takes what is at hand. Only where nobody had a list in hand, or after many rounds, is it
    /// worth merging: that keeps others waiting.
    #[inline(always)]
    fn take_anywhere(self, ask: Ask, most: u32, round: u32, busy: &mut bool) -> Row {
        let steps = select(round == 0, FEW, MANY);
        // The last sweep saw nothing so large, and nobody has freed anything since.
        let hopeless = ask.size > self.words.load(geometry::LEFT_WORD);
        let mut row = Row::NONE;
        if !hopeless {
            row = self.search(ask, most, steps, true, busy);
        }
        if row.count == 0 {
            row = self.top_alone(ask, busy);
        }
        if (row.count == 0) & !hopeless {
            if (round != 0) & (!*busy | (round % MERGES == 0)) {
                row = self.sweep(ask, busy);
            } else {
                *busy = true;
            }
        }
        row
    }
}

// SAFETY: a segment belongs to whoever changed its word from free to in use, which succeeds for one lane;
// segments do not overlap: what is cut from one, and what is swallowed, was in the hands of who did it; and
// the top is moved by additions and compare-and-swaps that hand out each unit once.
unsafe impl<const PER_PROCESSOR: bool> DeviceAlloc for SegmentLists<PER_PROCESSOR> {
    type Memory = Words;
    const NAME: &'static str = if PER_PROCESSOR { "MpList" } else { "SizeList" };
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_ALIGN * 16,
        max_size: MOST_GRANULES as u64 * 16,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let ask = self.ask(layout);
        let possible = ask.size != u32::MAX;
        let group = Group::here();
        let (unit, code) = self.serve(group, ask, possible);
        // Who claimed a lane's segment for it has acquired; the others know by this.
        group.barrier();
        let code = select(possible, code, AllocError::Unsupported.code());
        if code == 0 {
            Ok(DevicePtr::from_granule(self.geometry.granule_of(unit)))
        } else {
            fail(self.words, layout, AllocError::from_code(code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, _layout: Layout) {
        let group = Group::here();
        let mut unit = u32::MAX;
        let mut bin = u32::MAX;
        if !ptr.is_null() {
            unit = self.geometry.unit_of(ptr.granule());
            let size = size_of(self.words.load(self.geometry.state_word(unit)));
            bin = self.release_segment(unit, size);
        }
        self.link_together(group, unit, bin, !ptr.is_null());
    }

    /// Stays in place where the segment has the new size's units, or up to twice as many.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let new = self.ask(layout::aligned(new_size, old.align()));
        let unit = self.geometry.unit_of(ptr.granule());
        let size = size_of(self.words.load(self.geometry.state_word(unit)));
        if (new.size <= size) & (new.size >= size / 2) {
            return Ok(ptr);
        }
        // SAFETY: the caller's promise.
        unsafe { self.move_block(ptr, old, new_size) }
    }

    /// Whole units. What is left of a segment is cut off.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let ask = self.ask(layout);
        let possible = ask.size != u32::MAX;
        let units = select(possible, ask.size, 0) << self.geometry.shift;
        layout::with_granules(layout, units)
    }
}

/// The bin of segments of so many units: their binary logarithm.
#[inline(always)]
const fn bin_of(size: u32) -> u32 {
    least(size.ilog2(), geometry::BINS - 1)
}

#[cfg(feature = "std")]
pub(crate) mod host;
