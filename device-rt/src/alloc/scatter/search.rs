//! Which page serves a request (`alloc` of §6.1).

use super::ScatterAlloc;
use super::geometry::wrap;
use super::levels::Cursor;
use super::place::Launch;
use crate::arch;
use warpheap_api::{least, select};

/// Pages of a super block that a request looks at before it moves on to the next super block; the
/// last rounds look at all.
const PROBES: u32 = 256;

/// Pages that a request looks at before it walks through super blocks.
const OTHERS: u32 = 7;

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
    /// The super block at which it begins.
    pub(super) block: u32,
    /// Whether that page was found unsuitable a moment ago.
    pub(super) looked: bool,
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
    /// Chunks that the page has.
    pub(super) spots: u32,
    /// Chunks that were reserved beyond what the page has, or on a page that turned out not to suit:
    /// to be given back.
    pub(super) surplus: u32,
}

impl Held {
    pub(super) const NONE: Held = Held {
        page: 0,
        chunk: 0,
        count: 0,
        before: 0,
        spots: 0,
        surplus: 0,
    };
}

impl ScatterAlloc {
    /// What the calling lane asks for: its search begins where its block's does, and from there on
    /// as far as the lanes before it in the block fill pages; further apart where it is in a team that does not
    /// fill a page.
    #[inline(always)]
    pub(super) fn ask(self, chunk: u32, align: u32, wanted: u32) -> Ask {
        let launch = Launch {
            thread: arch::thread_index(),
            block: arch::block_index(),
            block_dim: arch::block_dim(),
            blocks: arch::grid_dim(),
        };
        let all = least(1 << self.geometry.spots_shift(chunk), arch::warp_width());
        let stretch = self.geometry.stretch(launch.block_dim * launch.blocks);
        let place = self
            .geometry
            .place(chunk, launch, select(wanted < all, stretch, 0));
        Ask {
            chunk,
            align,
            wanted,
            start: place.page,
            block: place.block,
            looked: true,
        }
    }

    /// Reserves chunks somewhere; none if there is no room anywhere.
    ///
    /// The first look goes to the start page, the next ones to some others. Then come all super blocks but the
    /// reserved ones, from the active one on, past regions and super blocks above the fill level; then the same without
    /// minding the fill level; then the reserved ones.
    #[inline(always)]
    pub(super) fn find(self, ask: Ask) -> Held {
        let start = wrap(ask.start, self.geometry.pages_of_block(ask.block));
        let first = (ask.block << self.geometry.block_shift()) + start;
        let skipped = ask.looked as u32;
        let mut walk = Walk {
            page: self.geometry.other_page(first, skipped),
            others: skipped,
            block: 0,
            offset: 0,
            left: 0,
            probes: 0,
            step: u32::MAX,
            round: 0,
            cursor: Cursor {
                active: 0,
                blocks: 0,
            },
        };
        let mut held = Held::NONE;
        let mut looks = true;
        while looks {
            held = self.reserve(walk.page, ask);
            if held.surplus != 0 {
                self.give_back(walk.page, held.surplus);
            }
            if held.count == 0 {
                if walk.others < OTHERS {
                    walk.others += 1;
                    walk.page = self.geometry.other_page(first, walk.others);
                } else {
                    if walk.step == u32::MAX {
                        walk.cursor = self.cursor();
                    }
                    walk = self.walk_on(walk, ask.start);
                }
            }
            looks = (held.count == 0) & (walk.round < ROUNDS);
        }
        // As far as this search had to go, the ones after it shall begin.
        let unreserved = walk.block + self.geometry.reserved < walk.cursor.blocks;
        if (held.count != 0) & unreserved & (walk.block != walk.cursor.active) {
            self.activate(walk.block, walk.cursor.blocks);
        }
        held
    }

    /// The next page to look at; none if the round is [`ROUNDS`].
    #[inline(always)]
    fn walk_on(self, mut walk: Walk, start: u32) -> Walk {
        let mut found = false;
        while !found & (walk.round < ROUNDS) {
            let minds_levels = walk.round == 0;
            if (walk.left == 0) | (minds_levels & (walk.probes == PROBES)) {
                self.enter_next_block(&mut walk, start);
            } else {
                let first = walk.block << self.geometry.block_shift();
                let pages = self.geometry.pages_of_block(walk.block);
                let in_region = walk.offset & (self.geometry.region_pages() - 1);
                walk.page = first + walk.offset;
                let mut stride = 1;
                let new_region = (in_region == 0) | (walk.left == pages);
                if new_region && self.passes_region(walk.page, minds_levels) {
                    stride = self.geometry.pages_of_region(walk.page) - in_region;
                } else {
                    found = true;
                    walk.probes += 1;
                }
                walk.left -= least(stride, walk.left);
                walk.offset += stride;
                walk.offset = select(walk.offset == pages, 0, walk.offset);
            }
        }
        walk
    }

    /// Goes to the next super block, and into it unless this round passes over it.
    #[inline(always)]
    fn enter_next_block(self, walk: &mut Walk, start: u32) {
        let cursor = walk.cursor;
        let step = walk.step.wrapping_add(1);
        walk.round += (step == cursor.blocks) as u32;
        walk.step = select(step == cursor.blocks, 0, step);
        let block = cursor.active + walk.step;
        walk.block = block - select(block >= cursor.blocks, cursor.blocks, 0);
        walk.probes = 0;
        walk.left = 0;
        let reserved = walk.block + self.geometry.reserved >= cursor.blocks;
        if (walk.round < ROUNDS)
            & (reserved == (walk.round == ROUND_RESERVED))
            & !self.passes_block(walk.block, walk.round == 0)
        {
            walk.left = self.geometry.pages_of_block(walk.block);
            walk.offset = wrap(start, walk.left);
        }
    }
}

/// A search through all pages: where it is.
#[derive(Clone, Copy)]
struct Walk {
    /// The page to look at.
    page: u32,
    /// How many other pages than the first were looked at before the walk.
    others: u32,
    /// Its super block in the walk.
    block: u32,
    /// The page after it, in the super block.
    offset: u32,
    /// Pages of the super block that are left from there on and around.
    left: u32,
    /// Pages of the super block that were looked at.
    probes: u32,
    /// Super blocks from the active one to this one; `u32::MAX` before the walk.
    step: u32,
    /// How many times all super blocks were passed.
    round: u32,
    /// The cursor when the walk began; no super blocks before that.
    cursor: Cursor,
}

/// Rounds through all super blocks.
const ROUNDS: u32 = 3;
/// The round that goes through the reserved super blocks, and no other.
const ROUND_RESERVED: u32 = 2;
