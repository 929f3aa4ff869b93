//! The word of a segment.
//!
//! The first unit of a segment holds the segment's size, whether it is free, and whether the unit is in a
//! list; the other units hold nothing but the last of these. A unit may be in a list while its segment is
//! in use, or was swallowed by another: who takes it from the list sees that, and drops it. So nothing
//! has to be taken out of the middle of a list.
//!
//! Only who has the segment in hand changes size and use, and only from free to in use does it go by itself,
//! by a compare-and-swap. The bit of the list is set by who links the unit and cleared by who has the list.

use super::geometry::TOP_WORD;
use super::{Ask, Row, SegmentLists, bin_of};
use warpheap_api::{HeapMemory, least};

/// The unit is in a list.
pub(super) const LINKED: u32 = 1;
/// The segment is free.
const FREE: u32 = 2;
/// Free segments behind it that a free swallows at most.
const MOST_SWALLOWED: u32 = 4;

/// Whether the segment with this state is free.
#[inline(always)]
pub(crate) const fn is_free(state: u32) -> bool {
    state & FREE != 0
}

/// Units of the segment with this state; zero where none begins.
#[inline(always)]
pub(crate) const fn size_of(state: u32) -> u32 {
    state >> 2
}

/// The state of a segment of this size in use, without the bit of the list.
#[inline(always)]
pub(super) const fn used(size: u32) -> u32 {
    size << 2
}

impl<const PER_PROCESSOR: bool> SegmentLists<PER_PROCESSOR> {
    /// Makes a segment in use of units that are in the caller's hands, the first of which holds nothing.
    #[inline(always)]
    pub(super) fn begin(self, unit: u32, size: u32) {
        self.words
            .fetch_add(self.geometry.state_word(unit), used(size));
    }

    /// Takes a free segment that was seen in this state; whether it is the caller's now.
    #[inline(always)]
    pub(super) fn claim(self, unit: u32, seen: u32) -> bool {
        let word = self.geometry.state_word(unit);
        self.words.compare_exchange(word, seen, seen & !FREE) == seen
    }

    /// Adds the free segments behind one in the caller's hands, `most` of them; the size then.
    #[inline(always)]
    pub(super) fn swallow(self, unit: u32, size: u32, most: u32) -> u32 {
        let mut whole = size;
        let mut left = most;
        while left > 0 {
            let behind = unit + whole;
            left -= 1;
            let mut got = 0;
            if behind < self.geometry.units {
                let word = self.geometry.state_word(behind);
                let seen = self.words.load(word);
                if is_free(seen) && self.words.compare_exchange(word, seen, seen & LINKED) == seen {
                    got = size_of(seen);
                }
            }
            whole += got;
            left *= (got != 0) as u32;
        }
        if whole != size {
            // What was done with them before is known to whoever gets the whole.
            self.words.acquire();
            self.words
                .fetch_add(self.geometry.state_word(unit), used(whole - size));
        }
        whole
    }

    /// Makes a segment in use free; the bin that the caller must link it in, `u32::MAX` if none.
    #[inline(always)]
    pub(super) fn release_segment(self, unit: u32, size: u32) -> u32 {
        let whole = self.swallow(unit, size, MOST_SWALLOWED);
        self.make_free(unit, whole)
    }

    /// The same without looking at what is behind.
    #[inline(always)]
    pub(super) fn make_free(self, unit: u32, size: u32) -> u32 {
        let word = self.geometry.state_word(unit);
        // What its owner wrote, and what was swallowed, comes before.
        self.words.release();
        let mut bin = u32::MAX;
        if !self.lower_top(unit, size) {
            let old = self.words.fetch_add(word, FREE);
            // Not in a list: whoever sets the bit links it. Others can, if it was swallowed and cut meanwhile.
            if old & LINKED == 0 && self.words.fetch_or(word, LINKED) & LINKED == 0 {
                bin = bin_of(size);
            }
        }
        bin
    }

    /// Gives a segment in use that is the last one back to the top, if it is.
    #[inline(always)]
    fn lower_top(self, unit: u32, size: u32) -> bool {
        let end = unit + size;
        let mut lowered = false;
        // Nothing begins behind the last segment.
        let behind = least(end, self.geometry.units - 1);
        let looks = size_of(self.words.load(self.geometry.state_word(behind))) == 0;
        if (looks | (end == self.geometry.units)) && self.words.load(TOP_WORD) == end {
            let word = self.geometry.state_word(unit);
            self.words.fetch_sub(word, used(size));
            // Before others make segments there.
            self.words.release();
            lowered = self.words.compare_exchange(TOP_WORD, end, unit) == end;
            if !lowered {
                self.words.fetch_add(word, used(size));
            }
        }
        lowered
    }

    /// Gives back a segment in the hands of one lane alone.
    #[inline(always)]
    pub(super) fn give(self, unit: u32, size: u32) {
        let bin = self.release_segment(unit, size);
        if bin != u32::MAX {
            self.link_alone(unit, bin);
        }
        self.note_free();
    }

    /// Whether an aligned block fits into a segment.
    #[inline(always)]
    pub(super) fn fits(self, unit: u32, size: u32, ask: Ask) -> bool {
        let front = self.geometry.front(unit, ask.align);
        (front < size) & (size.wrapping_sub(front) >= ask.size)
    }

    /// Cuts a segment in the caller's hands, into which the request fits: as many blocks as fit, `most` at
    /// most; what is before and behind them is given back. The first block is a segment then, the others
    /// each become one by [`take_place`](Self::take_place).
    #[inline(always)]
    pub(super) fn cut(self, unit: u32, size: u32, ask: Ask, most: u32) -> Row {
        let front = self.geometry.front(unit, ask.align);
        let count = least((size - front) / ask.size, most);
        let first = unit + front;
        let taken = count * ask.size;
        let tail = size - front - taken;
        if tail != 0 {
            self.begin(first + taken, tail);
        }
        let word = self.geometry.state_word(unit);
        if front != 0 {
            self.begin(first, ask.size);
            self.words.fetch_sub(word, used(size - front));
            self.give(unit, front);
        } else if size != ask.size {
            self.words.fetch_sub(word, used(size - ask.size));
        }
        if tail != 0 {
            self.give(first + taken, tail);
        }
        Row { first, count }
    }

    /// Makes block number `rank` of a row a segment.
    #[inline(always)]
    pub(super) fn take_place(self, unit: u32, size: u32, rank: u32) {
        if rank != 0 {
            self.begin(unit, size);
        }
    }
}
