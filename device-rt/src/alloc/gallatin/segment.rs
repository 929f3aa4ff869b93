//! Segments: which are free, which have blocks of a class to hand out, and how they change between the two
//! (§4.1, §4.2).
//!
//! A segment's state counts the blocks that it has to hand out. Nothing is ever stored into it: who takes a
//! block subtracts first and looks at the old value, and adds again if the segment is of another class, so
//! that is harmless whatever the segment has become meanwhile. The trees are hints that follow the states; a
//! segment's bit in the segment tree alone is taken at its word.

use super::Gallatin;
use super::moves::Moves;
use super::state::{RUN, RUN_HEAD, UNUSED, pack, segment_blocks, segment_tag, tag_for};
use warpheap_api::{AllocError, HeapMemory, select};

/// Looks at a state that others change faster than the tree can follow.
const LOOKS: u32 = 8;

impl Gallatin {
    /// Whether a segment has a block of the class, which is then the caller's to take from the ring. The
    /// second answer: whether the class's tree is to be told.
    #[inline(always)]
    pub(super) fn take_permit(self, segment: u32, class: u32) -> (bool, bool) {
        let at = self.geometry.state_word(segment);
        let old = self.words.fetch_sub(at, 1);
        let taken = (segment_tag(old) == tag_for(class)) & (segment_blocks(old) > 0);
        if taken {
            // The ring is the one that was formed, or pushed to, before the permit was given.
            self.words.acquire();
        }
        (taken, taken & (segment_blocks(old) == 1))
    }

    /// Adds a block to those that a segment has to hand out. With the last one that was missing the
    /// segment is free: of no class, and in the segment tree.
    #[inline(always)]
    pub(super) fn give_permit(self, segment: u32) {
        let at = self.geometry.state_word(segment);
        self.words.release();
        let state = self.words.fetch_add(at, 1).wrapping_add(1);
        self.words.acquire();
        let tag = segment_tag(state);
        let of_class = (tag != UNUSED) & (tag <= self.geometry.classes());
        let class = select(of_class, tag.wrapping_sub(1), 0);
        let blocks = 1 << self.geometry.blocks_log(class);
        let mut free = false;
        if of_class & (segment_blocks(state) == blocks) {
            // If somebody takes one at this moment, whoever brings it back comes here again.
            free = self.words.compare_exchange(at, state, pack(UNUSED, 0)) == state;
        }
        if of_class & (blocks > 1) & (free | (segment_blocks(state) == 1)) {
            self.tell_tree(segment, class);
        }
        if free {
            self.geometry.segment_tree().insert(self.words, segment);
        }
    }

    /// Makes the class's tree say whether a segment has blocks to hand out. Each one who changes that calls
    /// this behind the change, and looks again behind having told: so the last one to tell has told
    /// what is so.
    #[inline(always)]
    pub(super) fn tell_tree(self, segment: u32, class: u32) {
        let at = self.geometry.state_word(segment);
        let tree = self.geometry.block_tree(class);
        let mut looks = 0;
        let mut has = self.has_blocks(self.words.load(at), class);
        while looks < LOOKS {
            if has {
                tree.insert(self.words, segment);
            } else {
                tree.remove(self.words, segment);
            }
            self.words.acquire();
            let now = self.has_blocks(self.words.load(at), class);
            looks = select(now == has, LOOKS, looks + 1);
            has = now;
        }
    }

    #[inline(always)]
    pub(super) fn has_blocks(self, state: u32, class: u32) -> bool {
        (segment_tag(state) == tag_for(class)) & (segment_blocks(state) > 0)
    }

    /// Makes a segment that was just removed from the segment tree one of a class. Its first block is the
    /// caller's; the others are in its ring.
    #[inline(always)]
    pub(super) fn form(self, segment: u32, class: u32) -> u32 {
        let blocks_log = self.geometry.blocks_log(class);
        let (ring, words) = (self.geometry.ring_word(segment), self.words);
        let unit_log = self.geometry.units_log() - blocks_log;
        let blocks = 1 << blocks_log;
        let mut i = 1;
        while i < blocks {
            words.store(ring + i as usize, (i << unit_log) + 1);
            i += 1;
        }
        words.store(ring, 0);
        words.store(self.geometry.ring_head(segment), 1);
        words.store(self.geometry.ring_tail(segment), 0);
        words.release();
        let state = pack(tag_for(class), blocks - 1);
        words.fetch_add(self.geometry.state_word(segment), state);
        segment << self.geometry.units_log()
    }

    /// Takes a block from the ring of a segment, of which the caller has a permit; `u32::MAX` if others were
    /// faster at every place.
    ///
    /// There is a block in the ring for each permit. One that came in at a place that was passed before is
    /// found the next time around.
    #[inline(always)]
    pub(super) fn pop(self, segment: u32, class: u32) -> u32 {
        let blocks = 1u32 << self.geometry.blocks_log(class);
        let ring = self.geometry.ring_word(segment);
        let mut unit = 0;
        let mut turns = 4 * blocks;
        while (unit == 0) & (turns > 0) {
            let place = self.words.fetch_add(self.geometry.ring_head(segment), 1) & (blocks - 1);
            unit = self.words.exchange(ring + place as usize, 0);
            turns -= 1;
        }
        let block = (segment << self.geometry.units_log()) + unit.wrapping_sub(1);
        select(unit == 0, u32::MAX, block)
    }

    /// Puts a block into the ring of its segment. There are as many places as blocks, so there is one.
    #[inline(always)]
    pub(super) fn push(self, block: u32, class: u32) {
        let blocks = 1u32 << self.geometry.blocks_log(class);
        let segment = self.geometry.segment_of_block(block);
        let ring = self.geometry.ring_word(segment);
        let unit = block - (segment << self.geometry.units_log());
        let mut turns = select(blocks > 1, 1 << 16, 0);
        while turns > 0 {
            let place = self.words.fetch_add(self.geometry.ring_tail(segment), 1) & (blocks - 1);
            let at = ring + place as usize;
            let taken = self.words.compare_exchange(at, 0, unit + 1) != 0;
            turns = select(taken, turns - 1, 0);
        }
    }

    /// Claims segments side by side from the back: the granule at which they begin, and an error's code
    /// or 0.
    #[inline(always)]
    pub(super) fn claim_segments(self, count: u32, align: u32, moves: &mut Moves) -> (u32, u32) {
        self.watch(moves);
        let log = self.geometry.segment_log();
        let phase = self.geometry.data >> log;
        let align = select(align >> log == 0, 1, align >> log);
        let tree = self.geometry.segment_tree();
        let tells = move |begins| self.move_run(begins);
        match tree.claim_run_within(self.words, count, align, phase, tells) {
            Ok(first) => {
                let mut i = 0;
                while i < count {
                    let tag = select(i == 0, RUN_HEAD, RUN);
                    let at = self.geometry.state_word(first + i);
                    self.words.fetch_add(at, pack(tag, 0));
                    i += 1;
                }
                (self.geometry.granule_of(first), 0)
            }
            Err(error) => (0, AllocError::code(error)),
        }
    }

    /// Gives segments back that were claimed together.
    #[inline(always)]
    pub(super) fn free_segments(self, first: u32, count: u32) {
        let mut i = 0;
        while i < count {
            let tag = select(i == 0, RUN_HEAD, RUN);
            let at = self.geometry.state_word(first + i);
            self.words.fetch_sub(at, pack(tag, 0));
            i += 1;
        }
        let tree = self.geometry.segment_tree();
        tree.insert_run(self.words, first, count);
    }
}
