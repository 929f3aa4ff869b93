//! Blocks: where a class gets one, and what happens when the last slice of one is back (§4.2, §5).

use super::Gallatin;
use super::moves::Moves;
use super::state::{
    EMPTY, HELD, UNUSED, back_count, block_count, block_in, block_tag, holds, home, is_block,
    none_back, pack, tag_for,
};
use warpheap_api::{HeapMemory, least, select};

/// Looks at a class's tree while somebody makes a segment one of the class.
const LOOKS: u32 = 32;
/// Segments that are tried before others have been faster too often.
const TRIES: u32 = 1 << 12;

/// There is no block of the class and no segment.
pub(super) const NO_BLOCK: u32 = u32::MAX;
/// Others were faster too often.
pub(super) const LOST: u32 = u32::MAX - 1;

/// Slices that were claimed and go back unused.
#[derive(Clone, Copy)]
pub(super) struct Refund {
    pub block: u32,
    pub class: u32,
    pub count: u32,
}

impl Refund {
    pub const NONE: Refund = Refund {
        block: 0,
        class: 0,
        count: 0,
    };
}

impl Gallatin {
    /// A block of a class, which is the caller's alone; [`NO_BLOCK`] or [`LOST`].
    ///
    /// From the first segment that the class's tree has; else from a free segment. Of the buffers that take as
    /// many blocks as a segment has, one lane makes a segment one of the class at a time, as long as the
    /// others have patience: without that every buffer of a fresh heap would take a segment of its own. Those
    /// of other buffers begin with other free segments, so that they do not meet.
    ///
    /// The caller says that the move has [ended](Self::end) when the block is where others find it.
    #[inline(always)]
    pub(super) fn get_block(self, class: u32, buffer: u32, moves: &mut Moves) -> u32 {
        let several = self.geometry.blocks_log(class) > 0;
        let lock = self.geometry.lock_word(class, buffer);
        let mut block = NO_BLOCK;
        let (mut fresh, mut locked, mut scan, mut ends) = (!several, false, false, false);
        let (mut from, mut looks, mut tries) = (0, 0, 0);
        let mut ahead = buffer >> self.geometry.blocks_log(class);
        let mut wraps = false;
        while (block == NO_BLOCK) & !ends & (tries < TRIES) {
            tries += 1;
            let tree = self.geometry.tree(select(fresh, 0, class + 1));
            let segment = tree.next(self.words, from, scan);
            let found = segment != u32::MAX;
            let passes = found & fresh & (ahead != 0);
            from = select(found, segment.wrapping_add(select(passes, ahead, 1)), 0);
            // There is nothing so far on: from the first one, after all.
            let back = !found & wraps;
            wraps = (wraps | passes) & !back;
            ahead = select(passes, 0, ahead);
            // A look before the state is changed: so nothing moves when there is nothing.
            let state = self.geometry.state_word(select(found, segment, 0));
            let has = fresh || self.has_blocks(self.words.load(state), class);
            let mut tell = false;
            if found & !passes & has {
                self.begin(moves);
            }
            if passes | back | (found & !has) {
                // On to the next one.
            } else if found & fresh {
                if tree.remove(self.words, segment) {
                    block = self.form(segment, class);
                    tell = several;
                }
            } else if found {
                let (taken, last) = self.take_permit(segment, class);
                if taken {
                    block = self.pop(segment, class);
                }
                tell = last;
                if block == NO_BLOCK {
                    self.give_permit(segment);
                }
            } else if !fresh & !locked & (looks < LOOKS) {
                // With the lock one looks once more before one takes a segment.
                locked = self.words.compare_exchange(lock, 0, 1) == 0;
                looks += 1;
            } else {
                // No block, then no segment, then the same by looking at every leaf.
                ends = fresh & scan;
                if fresh & !scan {
                    self.watch(moves);
                }
                scan |= fresh;
                fresh = !fresh | !several;
            }
            if tell {
                self.tell_tree(segment, class);
            }
        }
        if locked {
            self.words.store(lock, 0);
        }
        // What was done with the block before was released when it came back.
        self.words.acquire();
        select((block == NO_BLOCK) & !ends, LOST, block)
    }

    /// Makes a block that the caller has alone one from which slices, or it as a whole, were handed out.
    #[inline(always)]
    pub(super) fn set_block(self, block: u32, back: u32, taken: u32) {
        self.words.store(self.geometry.back_word(block), back);
        // Who claims through a buffer that is out of date, as soon as the tag allows it, counts back behind that.
        self.words.release();
        self.words.store(self.geometry.taken_word(block), taken);
        self.words.release();
    }

    /// Counts slices of a block that came back. With the last one the block has all its slices to hand out
    /// again, if it is still in its buffer; else it goes back to its segment (§5).
    #[inline(always)]
    pub(super) fn free_slices(self, refund: Refund) {
        let mut refund = refund;
        // Once more where somebody has filled the buffer meanwhile: that block then goes to its segment.
        while refund.count != 0 {
            let Refund {
                block,
                class,
                count,
            } = refund;
            let old = self.words.fetch_add(self.geometry.back_word(block), count);
            refund.count = 0;
            if back_count(old) + count == self.geometry.slices(class) {
                let buffer = home(old);
                let homeless = buffer == u32::MAX;
                let at = self.geometry.buffer_word(select(homeless, 0, buffer));
                let here = holds(block);
                let stays = !homeless && self.words.compare_exchange(at, here, HELD) == here;
                // From others who brought slices back to whoever takes the block next.
                self.words.acquire();
                let back = select(stays, none_back(buffer), 0);
                let tag = select(stays, tag_for(class), UNUSED);
                self.set_block(block, back, pack(tag, 0));
                if !stays {
                    self.push(block, class);
                    self.give_permit(self.geometry.segment_of_block(block));
                } else if self.words.compare_exchange(at, HELD, here) != HELD {
                    refund = self.drain(block, class);
                }
            }
        }
    }

    /// What `asked` slices of a block, whose word was `taken` before they were added, were of, and how many
    /// there were.
    #[inline(always)]
    pub(super) fn refund(self, block: u32, taken: u32, asked: u32) -> Refund {
        let tag = block_tag(taken);
        let of_class = (tag != UNUSED) & (tag <= self.geometry.classes());
        let class = select(of_class, tag.wrapping_sub(1), 0);
        let slices = self.geometry.slices(class);
        let room = slices - least(block_count(taken), slices);
        Refund {
            block,
            class,
            count: select(of_class, least(asked, room), 0),
        }
    }

    /// Claims all that is left of a block that is in no buffer any more, or never came into one, so that it
    /// goes back to its segment with the slices that are in use.
    #[inline(always)]
    pub(super) fn drain(self, block: u32, class: u32) -> Refund {
        let slices = self.geometry.slices(class);
        let taken = self
            .words
            .fetch_add(self.geometry.taken_word(block), slices);
        self.refund(block, taken, slices)
    }

    /// Looks through the buffers of all classes, from number `buffer` on, for a block of which no slice is
    /// in use, and takes it out; and the number of the buffer behind it.
    #[inline(always)]
    pub(super) fn take_unused(self, buffer: u32, end: u32, moves: &mut Moves) -> (Refund, u32) {
        let mut refund = Refund::NONE;
        let mut i = buffer;
        while (i < end) & (refund.count == 0) {
            let at = self.geometry.buffer_word(i);
            let seen = self.words.load(at);
            let block = select(is_block(seen), block_in(seen), 0);
            let taken = self.words.load(self.geometry.taken_word(block));
            let back = self.words.load(self.geometry.back_word(block));
            let left = self.refund(block, taken, u32::MAX);
            let unused = (left.count != 0) & (block_count(taken) == back_count(back));
            if is_block(seen) & unused {
                self.begin(moves);
                if self.words.compare_exchange(at, seen, EMPTY) == seen {
                    refund = self.drain(block, left.class);
                }
            }
            i += 1;
        }
        (refund, i)
    }

    /// Whether a block has slices of a class to hand out.
    #[inline(always)]
    pub(super) fn has_slices(self, block: u32, class: u32) -> bool {
        let taken = self.words.load(self.geometry.taken_word(block));
        (block_tag(taken) == tag_for(class)) & (block_count(taken) < self.geometry.slices(class))
    }
}
