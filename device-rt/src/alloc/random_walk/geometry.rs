//! Where metadata and pages lie.
//!
//! | words from [`STEPS_WORD`] | content |
//! |---|---|
//! | [`STRIPES`] × [`STRIPE_WORDS`] | step counters, see `steps` |
//! | [`DRAWS`] × [`DRAW_STRIDE`] | how often warps began to draw at random, so that no two walks are the same |
//! | [`SWEEP_WORDS`] | how far the warps have come that go through the map together, see `sweep` |
//! | from `PARAM_MAP` | the map: an entry for each page (RW) or for each 32 pages (the others) |
//! | from `PARAM_HINTS` | CRW: for each slot of lanes the page behind the one taken last, 0 for none |
//! | from granule `PARAM_DATA` | pages |
//!
//! An entry is one word, a lock or 32 bits. Where there is a lock map it is two: bits and their lock, side
//! by side.

use super::{SINGLE, has_locks};
use crate::arch;
use crate::sync::hash;
use crate::thread;
use warpheap_api::{HeapParams, header, least, select};

/// Parameter: granule of the first page, a multiple of a page.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of pages.
pub(crate) const PARAM_PAGES: usize = 1;
/// Parameter: two to this power is the granules of a page.
pub(crate) const PARAM_SHIFT: usize = 2;
/// Parameter: first word of the map.
pub(crate) const PARAM_MAP: usize = 3;
/// Parameter: first word of the hints.
pub(crate) const PARAM_HINTS: usize = 4;
/// Parameter: slots of hints, a power of two.
pub(crate) const PARAM_SLOTS: usize = 5;
/// Parameter: random steps of a request before it goes through the map in order.
pub(crate) const PARAM_WALK: usize = 6;
/// Parameter: whether steps are counted.
pub(crate) const PARAM_COUNTS: usize = 7;

/// First word of the step counters.
pub(crate) const STEPS_WORD: usize = header::HEADER_WORDS;
/// Stripes of step counters.
pub(crate) const STRIPES: usize = 32;
/// Words of a stripe: a sector of the cache.
pub(crate) const STRIPE_WORDS: usize = 8;
/// First word of the draws.
pub(crate) const DRAWS_WORD: usize = STEPS_WORD + STRIPES * STRIPE_WORDS;
/// Words of draws.
pub(crate) const DRAWS: usize = 64;
/// Words from one to the next.
pub(crate) const DRAW_STRIDE: usize = 8;
/// First word of the sweeps.
pub(super) const SWEEP_WORD: usize = DRAWS_WORD + DRAWS * DRAW_STRIDE;
/// Words of the sweeps.
pub(super) const SWEEP_WORDS: usize = 40;
/// First word behind what every heap of the family has.
pub(crate) const FIRST_WORD: usize = SWEEP_WORD + SWEEP_WORDS;
/// Two to this power is the most segments of a sweep.
const MOST_SEGMENTS_LOG2: u32 = 9;
/// A sweep has few segments where they would have fewer entries than two to this power.
const LEAST_SEGMENT_LOG2: u32 = 5;

/// Groups of places from those of one warp to those of the next: a prime, so that warps of a launch have
/// places of their own, and not side by side.
const STRIDE: u32 = 7919;

/// The number of the calling warp in its launch, the same in all its lanes. Where blocks are not whole
/// warps, warps may share one.
#[inline(always)]
pub(super) fn warp_number() -> u32 {
    (thread::index() - arch::lane()) >> arch::warp_width().trailing_zeros()
}

/// The tables of a heap of so many pages and slots of hints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    /// First word of the hints.
    pub(crate) hints: u32,
    /// Behind the last table.
    pub(crate) end: u32,
}

impl Tables {
    pub(crate) const fn new(kind: u32, pages: u32, slots: u32) -> Self {
        let hints = FIRST_WORD as u32 + entries(kind, pages) * entry_words(kind);
        Tables {
            hints,
            end: hints + slots,
        }
    }
}

/// Entries of the map.
pub(crate) const fn entries(kind: u32, pages: u32) -> u32 {
    select(
        kind == SINGLE,
        pages,
        (pages >> 5) + (pages & 31 != 0) as u32,
    )
}

/// Words of an entry.
#[inline(always)]
pub(crate) const fn entry_words(kind: u32) -> u32 {
    1 + has_locks(kind) as u32
}

/// The layout of one heap.
#[derive(Clone, Copy)]
pub(crate) struct Geometry<const KIND: u32> {
    /// Granule of the first page.
    data: u32,
    /// Number of pages.
    pub(super) pages: u32,
    shift: u32,
    map: u32,
    hints: u32,
    slots: u32,
    /// Random steps of a request.
    pub(super) walk: u32,
    /// Whether steps are counted.
    pub(super) counts: bool,
}

impl<const KIND: u32> Geometry<KIND> {
    #[inline(always)]
    pub(crate) fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            pages: params[PARAM_PAGES],
            shift: params[PARAM_SHIFT],
            map: params[PARAM_MAP],
            hints: params[PARAM_HINTS],
            slots: params[PARAM_SLOTS],
            walk: params[PARAM_WALK],
            counts: params[PARAM_COUNTS] != 0,
        }
    }

    /// Granules of a page.
    #[inline(always)]
    pub(super) fn page_granules(self) -> u32 {
        1 << (self.shift & 31)
    }
    /// The granule at which a page begins.
    #[inline(always)]
    pub(super) fn granule_of(self, page: u32) -> u32 {
        self.data + (page << (self.shift & 31))
    }
    /// The page that begins at a granule.
    #[inline(always)]
    pub(super) fn page_of(self, granule: u32) -> u32 {
        (granule - self.data) >> (self.shift & 31)
    }

    /// Entries of the map.
    #[inline(always)]
    pub(super) fn entries(self) -> u32 {
        entries(KIND, self.pages)
    }
    /// Two to this power is the segments of a sweep through the map.
    #[inline(always)]
    pub(super) fn segments_log2(self) -> u32 {
        let log2 = 31 - (self.entries() | 1).leading_zeros();
        least(log2 - least(log2, LEAST_SEGMENT_LOG2), MOST_SEGMENTS_LOG2)
    }
    /// The word of an entry.
    #[inline(always)]
    pub(super) fn word(self, entry: u32) -> usize {
        (self.map + entry * entry_words(KIND)) as usize
    }
    /// The lock of an entry.
    #[inline(always)]
    pub(super) fn lock(self, entry: u32) -> usize {
        self.word(entry) + 1
    }
    /// The page of a bit of an entry.
    #[inline(always)]
    pub(super) fn page_at(self, entry: u32, bit: u32) -> u32 {
        select(KIND == SINGLE, entry, entry << 5 | bit)
    }
    /// The entry of a page.
    #[inline(always)]
    pub(super) fn entry_of(self, page: u32) -> u32 {
        select(KIND == SINGLE, page, page >> 5)
    }
    /// The bit of a page in its entry.
    #[inline(always)]
    pub(super) fn bit_of(self, page: u32) -> u32 {
        select(KIND == SINGLE, 0, page & 31)
    }
    /// The bits of an entry that stand for pages.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        select(KIND == SINGLE, 1, u32::MAX)
    }

    /// The page at which the calling lane's walk begins where that is not a matter of the lane's past:
    /// each lane of a launch has another entry, and when all entries are given away, another bit.
    #[inline(always)]
    pub(super) fn home(self) -> u32 {
        let (width, lane) = (arch::warp_width(), arch::lane());
        let entries = self.entries();
        let groups = entries >> width.trailing_zeros();
        let groups = groups + (groups == 0) as u32;
        let warp = warp_number();
        let group = warp.wrapping_mul(STRIDE) % groups;
        let entry = (group * width + lane) % entries;
        let page = self.page_at(entry, (warp / groups) & 31);
        select(page < self.pages, page, 0)
    }

    /// The page at which the calling warp's places begin, as many as it has lanes.
    #[inline(always)]
    pub(super) fn warp_home(self) -> u32 {
        let first = warp_number().wrapping_mul(arch::warp_width());
        let entry = (first >> 5).wrapping_mul(STRIDE) % self.entries();
        self.page_at(entry, first & 31)
    }

    /// The slot of hints of the calling lane.
    #[inline(always)]
    pub(super) fn hint(self) -> usize {
        (self.hints + (thread::index() & self.slots.wrapping_sub(1))) as usize
    }
}

/// The word with the draws of the calling warp.
#[inline(always)]
pub(super) fn draws_word() -> usize {
    DRAWS_WORD + hash(warp_number()) as usize % DRAWS * DRAW_STRIDE
}
