//! A chunk of user data: its header (§3.2, Algorithm 5).
//!
//! | word of the header | content |
//! |---|---|
//! | 0 | use: 0 for none, class + 1, class + 1 + 128 for a queue chunk; below it 16 bits, how many pages the bits say are free and nobody has reserved |
//! | 1, 2, 3 | of a queue chunk: entries written and taken, its number in the queue, the next one |
//! | 4 | whether the chunk is in its class's queue or in a slot; who sets it may be late, so no other use shares it |
//! | 16.. | a bit for each page, set if it is free |
//!
//! Use and count share a word, so that who reserves pages knows of which class they are, and a chunk
//! that is wholly free goes back by one compare-and-swap that fails if somebody has reserved.

use super::Core;
use super::geometry::{HEADER_BITS, NONE};
use crate::bits::take_from;
use warpheap_api::{HeapMemory, least, select};

/// Word of the header: use and count.
pub(crate) const STATE: usize = 0;
/// Word of the header: whether it is in the queue.
pub(super) const LISTED: usize = 4;
/// Bits of the count.
const COUNT_BITS: u32 = 16;
/// Added to the use of queue chunks.
pub(crate) const QUEUE: u32 = 128;

/// Compare-and-swaps and words tried before pages are looked for elsewhere.
const ATTEMPTS: u32 = 8;

/// The state of a chunk with this use and so many free pages.
#[inline(always)]
pub(crate) const fn state(tag: u32, count: u32) -> u32 {
    tag << COUNT_BITS | count
}

/// Use of a chunk.
#[inline(always)]
pub(crate) const fn tag_of(state: u32) -> u32 {
    state >> COUNT_BITS
}

/// Free pages of a chunk.
#[inline(always)]
pub(crate) const fn count_of(state: u32) -> u32 {
    state & ((1 << COUNT_BITS) - 1)
}

/// Pages of a chunk, side by side in a word of bits.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    /// Number of the page of bit 0.
    pub first: u32,
    /// Which of 32.
    pub mask: u32,
    /// Whether nobody has any more of the chunk.
    pub last: bool,
}

impl Core {
    /// Makes a chunk that was just taken one of this class, with all pages but the first `used` in
    /// its bits, or none.
    #[inline(always)]
    pub(super) fn open_chunk(self, chunk: u32, class: u32, used: u32, in_bits: bool) {
        let header = self.geometry.header(chunk);
        let pages = self.geometry.pages(class);
        let mut first = 0;
        while first < pages {
            let here = crate::bits::low_mask(pages - first);
            let gone = select(
                used > first,
                crate::bits::low_mask(used.wrapping_sub(first)),
                0,
            );
            let gone = select(used > first, gone, 0);
            let bits = select(in_bits, here & !gone, 0);
            self.words
                .store(header + HEADER_BITS + (first >> 5) as usize, bits);
            first += 32;
        }
        self.words.store(header + LISTED, 0);
        self.words.release();
        let count = select(in_bits, pages - used, 0);
        self.words.store(header + STATE, state(class + 1, count));
    }

    /// Takes up to `wanted` pages that the bits of a chunk of this class have.
    #[inline(always)]
    pub(super) fn take_pages(self, chunk: u32, class: u32, wanted: u32) -> Taken {
        let at = self.geometry.header(chunk) + STATE;
        let mut taken = Taken {
            first: 0,
            mask: 0,
            last: false,
        };
        let mut reserved = 0;
        let mut seen = self.words.load(at);
        let mut attempt = 0;
        while (reserved == 0)
            & (attempt < ATTEMPTS)
            & (tag_of(seen) == class + 1)
            & (count_of(seen) != 0)
        {
            let part = least(least(count_of(seen), wanted), 32);
            let old = self.words.compare_exchange(at, seen, seen - part);
            reserved = select(old == seen, part, 0);
            taken.last = count_of(seen) == part;
            seen = old;
            attempt += 1;
        }
        if reserved == 0 {
            taken.last = (tag_of(seen) != class + 1) | (count_of(seen) == 0);
        } else {
            self.take_bits(chunk, class, reserved, &mut taken);
            let rest = reserved - taken.mask.count_ones();
            if rest != 0 {
                self.words.fetch_add(at, rest);
                taken.last = false;
            }
        }
        taken
    }

    #[inline(always)]
    fn take_bits(self, chunk: u32, class: u32, reserved: u32, taken: &mut Taken) {
        let bits = self.geometry.header(chunk) + HEADER_BITS;
        let words = self.geometry.pages(class).div_ceil(32);
        let mut word = 0;
        let mut looks = 0;
        while (taken.mask == 0) & (looks < ATTEMPTS * words) {
            let seen = self.words.load(bits + word as usize);
            if seen != 0 {
                let mine = take_from(seen, reserved, 0);
                let old = self.words.fetch_and(bits + word as usize, !mine);
                taken.mask = old & mine;
                taken.first = word << 5;
            }
            word = select(word + 1 == words, 0, word + 1);
            looks += 1;
        }
    }

    /// Sets the bit of a page that is free; the count follows by [`count_pages`](Self::count_pages).
    #[inline(always)]
    pub(super) fn set_page(self, chunk: u32, page: u32) {
        let bits = self.geometry.header(chunk) + HEADER_BITS;
        self.words
            .fetch_or(bits + (page >> 5) as usize, 1 << (page & 31));
    }

    /// Counts `pages` more free pages of a chunk, whose bits are set; whether it is wholly free now.
    #[inline(always)]
    pub(super) fn count_pages(self, chunk: u32, class: u32, pages: u32) -> bool {
        let at = self.geometry.header(chunk) + STATE;
        let old = self.words.fetch_add(at, pages);
        count_of(old) + pages == self.geometry.pages(class)
    }

    /// Makes a chunk of this class nobody's if it is wholly free; then it is to be given back.
    #[inline(always)]
    pub(super) fn leave_chunk(self, chunk: u32, class: u32) -> bool {
        let at = self.geometry.header(chunk) + STATE;
        let free = state(class + 1, self.geometry.pages(class));
        self.words.compare_exchange(at, free, 0) == free
    }

    /// Gives a chunk of this class back to the manager if it is wholly free.
    #[inline(always)]
    pub(super) fn close_chunk(self, chunk: u32, class: u32) -> bool {
        let closed = self.leave_chunk(chunk, class);
        if closed {
            self.give_chunk(chunk, self.geometry.units_log(class));
        }
        closed
    }

    /// Looks through all chunks for one of this class whose bits have free pages, from `from` on;
    /// [`NONE`] if there is none.
    #[inline(always)]
    pub(super) fn find_open(self, class: u32, from: u32) -> u32 {
        let mut found = NONE;
        let mut looks = 0;
        let mut chunk = from % self.geometry.chunks;
        while (found == NONE) & (looks < self.geometry.chunks) {
            let seen = self.words.load(self.geometry.header(chunk) + STATE);
            let open = (tag_of(seen) == class + 1) & (count_of(seen) != 0);
            found = select(open, chunk, NONE);
            chunk = select(chunk + 1 == self.geometry.chunks, 0, chunk + 1);
            looks += 1;
        }
        found
    }
}
