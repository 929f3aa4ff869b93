//! Which page serves a request (`alloc` of §6.1).

use super::ScatterAlloc;
use super::geometry::{ACTIVE_WORD, BLOCKS_WORD};
use crate::arch;
use warpheap_api::HeapMemory;

/// Pages of a super block that a request looks at before it moves on to the next super block; the
/// last rounds look at all.
const PROBES: u32 = 256;

/// What a team of lanes asks for.
#[derive(Clone, Copy)]
pub(super) struct Ask {
    /// Granules of a chunk, a multiple of the alignment.
    pub(super) chunk: u32,
    /// Alignment in granules.
    pub(super) align: u32,
    /// Chunks wanted.
    pub(super) wanted: u32,
    /// The page in its super block at which the search begins.
    pub(super) start: u32,
}

/// Chunks of a page that are reserved and whose bits are still to be claimed.
#[derive(Clone, Copy)]
pub(super) struct Held {
    pub(super) page: u32,
    /// Granules of the page's chunks.
    pub(super) chunk: u32,
    /// How many are held; none if 0.
    pub(super) count: u32,
    /// How many were reserved before them.
    pub(super) before: u32,
}

impl Held {
    pub(super) const NONE: Held = Held {
        page: 0,
        chunk: 0,
        count: 0,
        before: 0,
    };
}

impl ScatterAlloc {
    /// The page in a super block at which the calling lane's search begins: its block's (Eq. 3),
    /// and from there as far as the lanes before it in the block fill pages.
    #[inline(always)]
    pub(super) fn start_page(self, chunk: u32) -> u32 {
        let page_granules = self.geometry.page_granules();
        if chunk > page_granules {
            return 0;
        }
        let footprint = (arch::block_dim() * chunk).div_ceil(page_granules);
        let start = self.geometry.hash(chunk, arch::block_index(), footprint);
        start + arch::thread_index() * chunk / page_granules
    }

    /// Reserves chunks somewhere; none if there is no room anywhere.
    ///
    /// The first look goes to the start page of the active super block. Then come all super blocks
    /// but the reserved ones, past regions and super blocks above the fill level; then the same
    /// without minding the fill level; then the reserved ones.
    #[inline(always)]
    pub(super) fn find(self, ask: Ask) -> Held {
        let active = self.words.load(ACTIVE_WORD);
        let blocks = self.words.load(BLOCKS_WORD);
        let mut held = self.probe_first(ask, active);
        let mut round = 0;
        while held.count == 0 && round < 3 {
            let mut step = 0;
            while held.count == 0 && step < blocks {
                let block = if active + step < blocks {
                    active + step
                } else {
                    active + step - blocks
                };
                let reserved = block + self.geometry.reserved >= blocks;
                if reserved == (round == 2) {
                    held = self.find_in(ask, block, round == 0);
                    if held.count != 0 && step != 0 && !reserved {
                        self.words.store(ACTIVE_WORD, block);
                    }
                }
                step += 1;
            }
            round += 1;
        }
        held
    }

    /// Looks at one page alone.
    #[inline(always)]
    fn probe_first(self, ask: Ask, block: u32) -> Held {
        let pages = self.pages_of(block);
        let start = if ask.start < pages {
            ask.start
        } else {
            ask.start % pages
        };
        self.reserve((block << self.geometry.block_shift()) + start, ask)
    }

    /// Looks through the pages of a super block, from the start page on and around.
    #[inline(always)]
    fn find_in(self, ask: Ask, block: u32, minds_levels: bool) -> Held {
        let first = block << self.geometry.block_shift();
        let pages = self.pages_of(block);
        let region_pages = self.geometry.region_pages();
        let mut held = Held::NONE;
        let mut probes = 0;
        let full = self.full(self.geometry.block_word(first));
        let mut walked = if self.passes(full, pages, minds_levels) {
            pages
        } else {
            0
        };
        let mut offset = ask.start % pages;
        let mut new_region = true;
        while held.count == 0 && walked < pages {
            let mut stride = 1;
            let mut skip = false;
            let region_end = (offset | (region_pages - 1)) + 1;
            let end = if region_end < pages {
                region_end
            } else {
                pages
            };
            if new_region {
                let begin = offset & !(region_pages - 1);
                let full = self.full(self.geometry.region_word(first + offset));
                skip = self.passes(full, end - begin, minds_levels);
            }
            if skip {
                stride = end - offset;
            } else {
                held = self.reserve(first + offset, ask);
                probes += 1;
                if minds_levels && probes == PROBES {
                    walked = pages;
                }
            }
            walked += stride;
            new_region = offset + stride == end;
            offset += stride;
            if offset == pages {
                offset = 0;
            }
        }
        held
    }

    /// Whether a search passes over a region or super block with so many full pages of so many.
    #[inline(always)]
    pub(super) fn passes(self, full: u32, pages: u32, minds_levels: bool) -> bool {
        full >= pages || minds_levels && self.geometry.above_level(full, pages)
    }

    /// Pages of a super block: the last one may have fewer than the others.
    #[inline(always)]
    fn pages_of(self, block: u32) -> u32 {
        let rest = self.geometry.pages - (block << self.geometry.block_shift());
        let most = 1 << self.geometry.block_shift();
        if rest < most { rest } else { most }
    }
}
