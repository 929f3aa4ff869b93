//! A ring of slots that all lanes push to and pop from by additions: what both queues are made of.
//!
//! After R. Nikolaev, *A Scalable, Portable, and Memory-Efficient Lock-Free FIFO Queue* (DISC 2019), section 4, with elements in
//! the slots, and with counts in front as in B. Kerbl and others, *The Broker Queue* (ICS 2018), section 4. There it is one count, so
//! those that pop in vain make room for a moment where there is none. Here each side asks a count of its own.
//!
//! An addition to a count says for how many lanes of a team there is room, or something. Another
//! one to the tail, or the head, gives these lanes *positions*, and each goes to its position's slot. The positions of
//! a slot are its *laps*: who pushes leaves its lap there. Nobody has to wait for anybody:
//!
//! - Who pops and finds, after some looks, that the element of its position is not there marks the slot as passed over, and asks for
//!   another position. Whoever claims a slot that is so marked to push to it looks at the head then: where that is past its
//!   position, nobody will come for the element any more, and the lane asks for another position, too.
//! - Who pushes and finds, after some looks, that the last lap's element is still there leaves nothing behind, and asks for another
//!   position. Who pops there later passes over.

mod claims;
mod slots;

use super::block::{block_layout, word_of};
pub(super) use claims::Answer;
use core::marker::PhantomData;
use warpheap_api::{HeapData, HeapMemory, Layout, layout, select};

/// Number of elements that there is room for, as a power of two. Words that all who push or pop change lie in lines of a cache of
/// their own: on an H200 an addition to a line takes 0.74 ns, and 2.8 with two loads from it (docs/reports/hot-lines.cu).
pub(crate) const LOG2: usize = 0;
/// The ring after this one: its granule and one, 0 for none.
pub(crate) const NEXT: usize = 1;
/// Not 0 while somebody brings the next ring.
pub(crate) const BROUGHT: usize = 2;
/// The next position that is pushed to, twice; one more if the ring is closed: nothing is pushed there any more.
pub(crate) const TAIL: usize = 32;
/// The next position that is popped from.
pub(crate) const HEAD: usize = 64;
/// Number of slots that are in use: by elements, and by lanes that push or pop just now.
pub(crate) const USED: usize = 96;
/// Number of elements that nobody has come for.
pub(crate) const READY: usize = 128;
/// Words before the slots.
pub(crate) const HEADER: usize = 160;

/// The largest ring, as a power of two: positions have 31 bits, and laps of a slot are to be told apart.
pub(crate) const MAX_LOG2: u32 = 28;

/// In a slot's first word, beside the lap: a lane that pushes has the slot, …
pub(crate) const BUSY: u32 = 1;
/// … its element is there, …
pub(crate) const WRITTEN: u32 = 2;
/// … a lane that pops passed the slot over, in this lap or in one that comes.
const PASSED: u32 = 4;
pub(crate) const MARKS: u32 = BUSY | WRITTEN | PASSED;
/// The smallest number of slots, as a power of two: laps are multiples of it, and leave room for the marks.
const SLOTS_LOG2: u32 = 3;

/// A ring in a heap, of elements `T`.
#[derive(Clone, Copy)]
pub(super) struct Ring<T, M> {
    words: M,
    /// Its first word.
    pub at: usize,
    log2: u32,
    elements: PhantomData<fn() -> T>,
}

/// How far position `a` is ahead of `b`.
#[inline(always)]
pub(crate) const fn ahead(a: u32, b: u32) -> i32 {
    (a.wrapping_sub(b) << 1) as i32
}

/// The number of slots of a ring for `1 << log2` elements, as a power of two.
#[inline(always)]
pub(crate) const fn slots_log2(log2: u32) -> u32 {
    select(log2 < SLOTS_LOG2, SLOTS_LOG2, log2)
}

/// The word of a position's slot, behind which the element lies.
#[inline(always)]
const fn slot<T: HeapData>(at: usize, log2: u32, position: u32) -> usize {
    let index = position & ((1 << slots_log2(log2)) - 1);
    at + HEADER + index as usize * (1 + T::WORDS as usize)
}

/// The lap of a position: itself without the number of its slot.
#[inline(always)]
const fn lap(log2: u32, position: u32) -> u32 {
    position & (u32::MAX << slots_log2(log2))
}

/// The word of a slot in which nothing was yet: that of the lap before position 0.
#[inline(always)]
pub(crate) const fn fresh(log2: u32) -> u32 {
    lap(log2, u32::MAX)
}

/// The layout of a ring for `1 << log2` elements; of an absurd size if that is more than a ring can have.
#[inline(always)]
pub(crate) const fn ring_layout<T: HeapData>(log2: u32) -> Layout {
    if log2 > MAX_LOG2 {
        return layout::bytes(layout::ABSURD);
    }
    block_layout(HEADER as u32, 1 << slots_log2(log2), 1 + T::WORDS)
}

impl<T: HeapData + Copy, M: HeapMemory> Ring<T, M> {
    /// The ring that a handle names, by a lane that knows it.
    #[inline(always)]
    pub fn of(words: M, handle: u32) -> Self {
        let at = word_of(words, handle);
        Ring {
            words,
            at,
            log2: words.read(at + LOG2),
            elements: PhantomData,
        }
    }

    /// The share of one of `lanes` lanes in making a block an empty ring for `1 << log2` elements: that of the lane of this
    /// `rank`, from 0.
    #[inline(always)]
    pub fn clear(words: M, at: usize, log2: u32, rank: u32, lanes: u32) {
        if rank == 0 {
            words.write(at + TAIL, 0);
            words.write(at + LOG2, log2);
            words.write(at + NEXT, 0);
            words.write(at + BROUGHT, 0);
            words.write(at + HEAD, 0);
            words.write(at + USED, 0);
            words.write(at + READY, 0);
        }
        let mut index = rank;
        while index < 1 << slots_log2(log2) {
            words.write(slot::<T>(at, log2, index), fresh(log2));
            index += lanes;
        }
    }

    /// Number of elements that there is room for, as a power of two.
    #[inline(always)]
    pub fn log2(self) -> u32 {
        self.log2
    }

    /// Number of elements, for lanes that are ordered after all operations.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.words.load(self.at + USED)
    }

    /// Closes the ring: what was pushed stays until it is popped.
    #[inline(always)]
    pub fn close(self) {
        self.words.fetch_or(self.at + TAIL, 1);
    }
}
