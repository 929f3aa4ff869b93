//! Which page serves a request (`alloc` of §6.1).

use super::ScatterAlloc;
use crate::arch;

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
    /// Super blocks from the active one to that one.
    pub(super) turn: u32,
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
    /// What the calling lane asks for: its search begins where its block's does, and from there on
    /// as far as the lanes before it in the block fill pages.
    #[inline(always)]
    pub(super) fn ask(self, chunk: u32, align: u32) -> Ask {
        let place = self
            .geometry
            .place(chunk, arch::block_index(), arch::block_dim());
        Ask {
            chunk,
            align,
            wanted: 0,
            start: place.page + arch::thread_index() * chunk / self.geometry.page_granules(),
            turn: place.turn,
        }
    }

    /// Reserves chunks somewhere; none if there is no room anywhere.
    ///
    /// The first look goes to the start page. Then come all super blocks but the reserved ones, past
    /// regions and super blocks above the fill level; then the same without minding the fill level;
    /// then the reserved ones.
    #[inline(always)]
    pub(super) fn find(self, ask: Ask) -> Held {
        let cursor = self.cursor();
        let usable = cursor.blocks - self.geometry.reserved;
        let home = (cursor.active + ask.turn) % usable;
        let start = ask.start % self.geometry.pages_of_block(home);
        let mut held = self.reserve((home << self.geometry.block_shift()) + start, ask);
        let mut round = 0;
        while held.count == 0 && round < 3 {
            let mut step = 0;
            while held.count == 0 && step < cursor.blocks {
                let block = (home + step) % cursor.blocks;
                if (block >= usable) == (round == 2) {
                    held = self.find_in(ask, block, round == 0);
                    if held.count != 0 && block != home && block < usable {
                        // As far as this search had to go, the ones after it shall begin later.
                        let active = (cursor.active + usable + block - home) % usable;
                        self.activate(active, cursor.blocks);
                    }
                }
                step += 1;
            }
            round += 1;
        }
        held
    }

    /// Looks through the pages of a super block, from the start page on and around.
    #[inline(always)]
    fn find_in(self, ask: Ask, block: u32, minds_levels: bool) -> Held {
        let first = block << self.geometry.block_shift();
        let pages = self.geometry.pages_of_block(block);
        let mut held = Held::NONE;
        let mut probes = 0;
        let mut offset = ask.start % pages;
        let mut walked = 0;
        if self.passes_block(block, minds_levels) {
            walked = pages;
        }
        let mut new_region = true;
        while held.count == 0 && walked < pages {
            let region_end = (offset | (self.geometry.region_pages() - 1)) + 1;
            let end = if region_end < pages {
                region_end
            } else {
                pages
            };
            let mut stride = 1;
            if new_region && self.passes_region(first + offset, minds_levels) {
                stride = end - offset;
            } else {
                held = self.reserve(first + offset, ask);
                probes += 1;
            }
            walked += stride;
            if minds_levels && probes == PROBES {
                walked = pages;
            }
            offset += stride;
            new_region = offset == end;
            if offset == pages {
                offset = 0;
            }
        }
        held
    }
}
