//! Where metadata and pages lie.
//!
//! | words from [`CURSOR_WORD`] | content |
//! |---|---|
//! | [`CURSORS`] × [`CURSOR_STRIDE`] | the cursor: active super block (§5.1) and super blocks in use |
//! | then | page usage table: two words a page, its state and its bits (§5.2) |
//! | then | second bit level: one word for every 32 granules of a page |
//! | then | full pages of each region (§5.4) |
//! | then | levels of each super block: regions above the fill level, and full ones |
//! | from granule `PARAM_DATA` | pages |
//!
//! Every request that finds its first page full reads the cursor. One word for all would be read by
//! every warp of the device at once, which a memory system serves one after the other; so there are
//! copies, a cache line apart.

use super::state::{chunk_of, count_of, is_multi};
use warpheap_api::{HeapParams, header, least, select};

/// Parameter: granule of the first page, a multiple of a page.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of pages.
pub(crate) const PARAM_PAGES: usize = 1;
/// Parameter: the sizes, see [`pack_shifts`].
pub(crate) const PARAM_SHIFTS: usize = 2;
/// Parameter: low half, super blocks that are kept for runs; high half, the others of a fresh heap.
pub(crate) const PARAM_BLOCKS: usize = 3;
/// Parameter: `max_frag`, in 256ths.
pub(crate) const PARAM_FRAG: usize = 4;
/// Parameter: the fill level at which regions and super blocks are passed over, in 256ths.
pub(crate) const PARAM_FILL: usize = 5;
/// Parameter: `k_S` of Eq. 3.
pub(crate) const PARAM_K_SIZE: usize = 6;
/// Parameter: `k_mp` of Eq. 3.
pub(crate) const PARAM_K_MP: usize = 7;

/// First word of the cursor's copies. The low half of each is the active super block, the high half
/// how many are in use.
pub(crate) const CURSOR_WORD: usize = header::HEADER_WORDS;
/// Copies of the cursor.
pub(crate) const CURSORS: usize = 16;
/// Words from one copy to the next.
pub(crate) const CURSOR_STRIDE: usize = 32;
/// Most super blocks of a heap.
pub(crate) const MAX_BLOCKS: u32 = 0xffff;
/// Most regions of a super block.
pub(crate) const MAX_REGIONS: u32 = 0x7fff;
/// First word of the page usage table.
const TABLE_WORD: u32 = (CURSOR_WORD + CURSORS * CURSOR_STRIDE) as u32;

/// Granules of the largest page: 1024 chunks are what two levels of 32 bits count.
pub(crate) const MAX_PAGE_GRANULES: u32 = 1024;

/// The sizes as one word: binary logarithms of a page in granules, of a region in pages, and of a
/// super block in pages.
pub(crate) const fn pack_shifts(page: u32, region: u32, block: u32) -> u32 {
    page | region << 8 | block << 16
}

/// First words of the tables of a heap, and the word behind them. The tables of 64 GiB have 170
/// million words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    /// Page usage table.
    pub(crate) pages: u32,
    /// Second bit level.
    pub(crate) second: u32,
    /// Full pages of each region.
    pub(crate) regions: u32,
    /// Levels of each super block.
    pub(crate) blocks: u32,
    /// Behind the last table.
    pub(crate) end: u32,
}

impl Tables {
    /// The tables of a heap of `pages` pages with sizes as [`pack_shifts`] has them.
    #[inline(always)]
    pub(crate) const fn new(pages: u32, shifts: u32) -> Self {
        let second = TABLE_WORD + 2 * pages;
        let regions = second + pages * second_words(shifts);
        let blocks = regions + groups(pages, shifts >> 8 & 0xff);
        Tables {
            pages: TABLE_WORD,
            second,
            regions,
            blocks,
            end: blocks + (groups(pages, shifts >> 16) << apart(shifts >> 16)),
        }
    }
}

/// Words of a page in the second level.
#[inline(always)]
const fn second_words(shifts: u32) -> u32 {
    (1 << (shifts & 0xff)) / 32
}

/// The binary logarithm of the words from one super block's levels to the next: a word for four pages, up to 2
/// KiB, because atomics on words that lie closer together are served one after the other.
#[inline(always)]
const fn apart(block_shift: u32) -> u32 {
    least(block_shift - least(block_shift, 2), 9)
}

/// Groups of `1 << shift` that hold `pages` pages.
#[inline(always)]
pub(super) const fn groups(pages: u32, shift: u32) -> u32 {
    (pages >> shift) + (pages & ((1 << shift) - 1) != 0) as u32
}

/// The layout of one heap.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    /// Granule of the first page.
    data: u32,
    /// Number of pages.
    pub(super) pages: u32,
    shifts: u32,
    /// Super blocks that are kept for runs.
    pub(super) reserved: u32,
    /// Super blocks over which first looks are scattered.
    pub(super) homes: u32,
    frag: u32,
    fill: u32,
    pub(super) k_size: u32,
    pub(super) k_mp: u32,
}

impl Geometry {
    #[inline(always)]
    pub(super) fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            pages: params[PARAM_PAGES],
            shifts: params[PARAM_SHIFTS],
            reserved: params[PARAM_BLOCKS] & 0xffff,
            homes: params[PARAM_BLOCKS] >> 16,
            frag: params[PARAM_FRAG],
            fill: params[PARAM_FILL],
            k_size: params[PARAM_K_SIZE],
            k_mp: params[PARAM_K_MP],
        }
    }

    #[inline(always)]
    pub(super) fn page_shift(self) -> u32 {
        self.shifts & 0xff
    }
    #[inline(always)]
    fn region_shift(self) -> u32 {
        self.shifts >> 8 & 0xff
    }
    #[inline(always)]
    pub(super) fn block_shift(self) -> u32 {
        self.shifts >> 16
    }

    /// Granules of a page.
    #[inline(always)]
    pub(super) fn page_granules(self) -> u32 {
        1 << self.page_shift()
    }
    /// Pages of a full region.
    #[inline(always)]
    pub(super) fn region_pages(self) -> u32 {
        1 << self.region_shift()
    }
    /// The first granule of a page.
    #[inline(always)]
    pub(super) fn page_granule(self, page: u32) -> u32 {
        self.data + (page << self.page_shift())
    }
    /// The page that holds a granule.
    #[inline(always)]
    pub(super) fn page_of(self, granule: u32) -> u32 {
        (granule - self.data) >> self.page_shift()
    }
    /// The granule's place in its page.
    #[inline(always)]
    pub(super) fn in_page(self, granule: u32) -> u32 {
        (granule - self.data) & (self.page_granules() - 1)
    }
    /// The page's place in its super block.
    #[inline(always)]
    pub(super) fn page_in_block(self, page: u32) -> u32 {
        page & ((1 << self.block_shift()) - 1)
    }
    /// Pages that hold so many granules.
    #[inline(always)]
    pub(super) fn pages_for(self, granules: u32) -> u32 {
        groups(granules, self.page_shift())
    }
    /// Chunks of a page that is split into chunks of so many granules.
    #[inline(always)]
    pub(super) fn spots(self, chunk: u32) -> u32 {
        // A division takes a GPU twenty instructions.
        let mut spots = self.page_granules() >> (chunk.trailing_zeros() & 31);
        if chunk & chunk.wrapping_sub(1) != 0 {
            spots = self.page_granules() / chunk;
        }
        spots
    }

    #[inline(always)]
    pub(super) fn state_word(self, page: u32) -> usize {
        (TABLE_WORD + 2 * page) as usize
    }
    /// The page's bits in the page usage table: of its chunks if there are no more than 32,
    /// otherwise a hint which words of the second level are full.
    #[inline(always)]
    pub(super) fn bits_word(self, page: u32) -> usize {
        self.state_word(page) + 1
    }
    /// The page's first word of the second level.
    #[inline(always)]
    pub(super) fn second_word(self, page: u32) -> usize {
        (self.tables().second + page * second_words(self.shifts)) as usize
    }
    #[inline(always)]
    pub(super) fn region_word(self, page: u32) -> usize {
        (self.tables().regions + (page >> self.region_shift())) as usize
    }
    #[inline(always)]
    pub(super) fn block_word(self, page: u32) -> usize {
        let block = page >> self.block_shift();
        (self.tables().blocks + (block << apart(self.block_shift()))) as usize
    }
    #[inline(always)]
    fn tables(self) -> Tables {
        Tables::new(self.pages, self.shifts)
    }

    /// Whether chunks of `chunk` granules (or the code of a run, which they may not) may serve
    /// requests of `wanted`: not smaller, not larger
    /// by more than `max_frag` (§6.1), and at multiples of the alignment.
    #[inline(always)]
    pub(super) fn fits(self, chunk: u32, wanted: u32, align: u32) -> bool {
        (chunk >= wanted)
            & (chunk <= self.page_granules())
            & (chunk * 256 <= wanted * self.frag)
            & (chunk & (align - 1) == 0)
    }

    /// Whether nothing more can be reserved on a page in this state.
    #[inline(always)]
    pub(super) fn is_full(self, state: u32) -> bool {
        // No chunk size of its own counts as one chunk: a free page has no reservations that stay, and
        // a page of a run is full whatever was added to it for a moment.
        let chunk = chunk_of(state);
        let split = (chunk != 0) & !is_multi(state);
        let full = count_of(state) >= self.spots(select(split, chunk, 1));
        is_multi(state) | (split & full)
    }

    /// Whether adding so many reservations makes a page in this state full.
    #[inline(always)]
    pub(super) fn becomes_full(self, state: u32, count: u32) -> bool {
        !self.is_full(state) & self.is_full(state + count)
    }

    /// Whether so many of `all` are at or above the fill level.
    #[inline(always)]
    pub(super) fn above_level(self, full: u32, all: u32) -> bool {
        full * 256 >= all * self.fill
    }

    /// Super blocks that hold so many pages.
    #[inline(always)]
    pub(super) fn blocks_for(self, pages: u32) -> u32 {
        groups(pages, self.block_shift())
    }
    /// Pages of a super block: the last one may have fewer than the others.
    #[inline(always)]
    pub(super) fn pages_of_block(self, block: u32) -> u32 {
        self.rest(block, self.block_shift())
    }
    /// Pages of the region that holds a page: the last one may have fewer than the others.
    #[inline(always)]
    pub(super) fn pages_of_region(self, page: u32) -> u32 {
        self.rest(page >> self.region_shift(), self.region_shift())
    }
    /// Regions of a super block.
    #[inline(always)]
    pub(super) fn regions_of_block(self, block: u32) -> u32 {
        groups(self.pages_of_block(block), self.region_shift())
    }
    #[inline(always)]
    fn rest(self, group: u32, shift: u32) -> u32 {
        let rest = self.pages - (group << shift);
        least(rest, 1 << shift)
    }
}

/// What is left of `value` after as many `modulus` as go into it: usually all.
#[inline(always)]
pub(super) fn wrap(value: u32, modulus: u32) -> u32 {
    let mut rest = value;
    if value >= modulus {
        rest = value % modulus;
    }
    rest
}
