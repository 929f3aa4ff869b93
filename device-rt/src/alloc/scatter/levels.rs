//! Fill levels (§5.4): what lets a search pass over regions and super blocks without a look at their
//! pages, and which super block is the active one.
//!
//! A page that becomes full, or stops being so, changes its region's count; only where that crosses
//! the fill level, or the number of the region's pages, does the super block hear of it. So the words
//! of super blocks, which all warps would meet on, change a few times for many pages.

use super::ScatterAlloc;
use super::geometry::{CURSOR_STRIDE, CURSOR_WORD, CURSORS};
use crate::arch;
use crate::sync::{Group, Team, hash};
use warpheap_api::{HeapMemory, select};

/// The cursor of a heap.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    /// The active super block.
    pub(super) active: u32,
    /// Super blocks in use.
    pub(super) blocks: u32,
}

/// How full a super block is.
#[derive(Clone, Copy)]
struct Level {
    /// Regions at or above the fill level.
    above: u32,
    /// Regions without a page that is not full.
    full: u32,
}

impl ScatterAlloc {
    /// Reads the block's copy of the cursor.
    #[inline(always)]
    pub(super) fn cursor(self) -> Cursor {
        let copy = arch::block_index() as usize % CURSORS;
        let word = self.words.load(CURSOR_WORD + copy * CURSOR_STRIDE);
        Cursor {
            active: word & 0xffff,
            blocks: word >> 16,
        }
    }

    /// Makes a super block the active one.
    #[inline(always)]
    pub(super) fn activate(self, block: u32, blocks: u32) {
        let mut copy = 0;
        while copy < CURSORS {
            self.words
                .store(CURSOR_WORD + copy * CURSOR_STRIDE, block | blocks << 16);
            copy += 1;
        }
    }

    /// Adds to the full pages of the page's region; wrapping, so that `u32::MAX` takes one away. True
    /// if the region fell below the fill level.
    #[inline(always)]
    pub(super) fn count_full(self, page: u32, change: u32) -> bool {
        let pages = self.geometry.pages_of_region(page);
        let old = self
            .words
            .fetch_add(self.geometry.region_word(page), change);
        let (old, new) = (
            not_below_zero(old),
            not_below_zero(old.wrapping_add(change)),
        );
        let above = (self.geometry.above_level(new, pages) as u32)
            .wrapping_sub(self.geometry.above_level(old, pages) as u32);
        let full = ((new >= pages) as u32).wrapping_sub((old >= pages) as u32);
        let change = above.wrapping_add(full << 16);
        if change != 0 {
            self.words.fetch_add(self.geometry.block_word(page), change);
        }
        above == u32::MAX
    }

    /// Collective: [`count_full`](Self::count_full) for the pages of all lanes that have `changed`, those of
    /// one region together.
    #[inline(always)]
    pub(super) fn count_together<const FULL: bool>(
        self,
        group: Group<FULL>,
        page: u32,
        changed: bool,
        change: u32,
    ) {
        if group.any(changed) {
            let key = select(changed, self.geometry.region_word(page) as u32, 0);
            let team = Team::by_key(group, key);
            if changed & team.leads() && self.count_full(page, team.count().wrapping_mul(change)) {
                self.reactivate(page);
            }
        }
    }

    /// Full pages of the page's region.
    #[inline(always)]
    fn full_pages(self, page: u32) -> u32 {
        not_below_zero(self.words.load(self.geometry.region_word(page)))
    }

    #[inline(always)]
    fn level(self, block: u32) -> Level {
        let first = block << self.geometry.block_shift();
        let word = self.words.load(self.geometry.block_word(first));
        // Two numbers with a sign, the lower one's in its highest bit: see `not_below_zero`.
        let above = (word << 16) as i32 >> 16;
        let full = (word.wrapping_sub(above as u32) as i32) >> 16;
        Level {
            above: not_below_zero(above as u32),
            full: not_below_zero(full as u32),
        }
    }

    /// Whether a search passes over a super block: it is full, or above the fill level and the search
    /// minds that.
    #[inline(always)]
    pub(super) fn passes_block(self, block: u32, minds_levels: bool) -> bool {
        let level = self.level(block);
        let regions = self.geometry.regions_of_block(block);
        (level.full >= regions) | (minds_levels & self.geometry.above_level(level.above, regions))
    }

    /// Whether a search passes over the region that holds a page.
    #[inline(always)]
    pub(super) fn passes_region(self, page: u32, minds_levels: bool) -> bool {
        let full = self.full_pages(page);
        let pages = self.geometry.pages_of_region(page);
        (full >= pages) | (minds_levels & self.geometry.above_level(full, pages))
    }

    /// Makes the page's super block the active one if the active one is above the fill level, the
    /// more probably the emptier this one is.
    #[inline(always)]
    pub(super) fn reactivate(self, page: u32) {
        let block = page >> self.geometry.block_shift();
        let regions = self.geometry.regions_of_block(block);
        let above = self.level(block).above;
        let dice = hash(page ^ (arch::thread_index() << 16) ^ above) % regions;
        if dice >= above {
            let cursor = self.cursor();
            let unreserved = block + self.geometry.reserved < cursor.blocks;
            if unreserved & self.passes_block(cursor.active, true) {
                self.activate(block, cursor.blocks);
            }
        }
    }
}

/// A count as the word has it. A lane's subtraction may come before the addition that it answers, so
/// for a moment the word may be below zero.
#[inline(always)]
fn not_below_zero(word: u32) -> u32 {
    select(word as i32 >= 0, word, 0)
}
