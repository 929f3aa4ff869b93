//! The chunk manager (§3.1, §3.2): hands out chunks of every instance from one pool, takes them back, and
//! gives them to any use again.
//!
//! A bit says whether a base chunk is taken. Asking counts a ticket, which names where to look first: a
//! fresh pool is handed out from the front, later ones in turn, as from the paper's queue of empty
//! chunks. Rows of chunks for larger instances are looked for from the end.

use super::Core;
use super::geometry::{Geometry, HEAD_FREE, HEAD_TICKET, NONE};
use warpheap_api::{HeapMemory, select};

impl Core {
    /// Takes a chunk of two to this power base chunks; [`NONE`] if there is none.
    #[inline(always)]
    pub(super) fn take_chunk(self, units_log: u32) -> u32 {
        let units = 1 << units_log;
        let free = self.geometry.manager(HEAD_FREE);
        let mut found = NONE;
        // The count keeps those away who would look in vain; the ticket does not wait for it.
        let before = self.words.fetch_sub(free, units) as i32;
        let mut ticket = 0;
        if units_log == 0 {
            ticket = self.words.fetch_add(self.geometry.manager(HEAD_TICKET), 1);
        }
        if before >= units as i32 {
            found = if units_log == 0 {
                self.find_one(ticket)
            } else {
                self.find_row(units_log)
            };
        }
        if found == NONE {
            self.words.fetch_add(free, units);
        } else {
            // The other half of `give_bits`.
            self.words.acquire();
        }
        found
    }

    /// Gives a chunk back.
    #[inline(always)]
    pub(super) fn give_chunk(self, chunk: u32, units_log: u32) {
        self.give_bits(chunk, units_log);
        self.count_given(1, units_log);
    }

    /// The first half of giving a chunk back; [`count_given`](Self::count_given) follows.
    #[inline(always)]
    pub(super) fn give_bits(self, chunk: u32, units_log: u32) {
        // What the owners of its pages did, of which the caller knows from words it has read, comes before
        // whatever the next owner of the chunk does.
        self.words.acquire();
        self.words.release();
        self.clear(chunk, units_log, u32::MAX);
    }

    /// Counts chunks whose bits were given back.
    #[inline(always)]
    pub(super) fn count_given(self, chunks: u32, units_log: u32) {
        let free = self.geometry.manager(HEAD_FREE);
        self.words.fetch_add(free, chunks << units_log);
    }

    #[inline(always)]
    fn find_one(self, ticket: u32) -> u32 {
        let first = ticket % self.geometry.chunks;
        let words = self.geometry.taken_words();
        let (mut word, mut bit) = (first >> 5, first & 31);
        // The first one is usually free, so reaching for it is as good as a look.
        let mut seen = 0;
        let mut found = NONE;
        let mut looks = 0;
        while (found == NONE) & (looks <= 4 * words + 64) {
            let free = !seen & (u32::MAX << bit);
            let at = self.geometry.taken_word(word << 5);
            if free != 0 {
                let mine = free & free.wrapping_neg();
                seen = self.words.fetch_or(at, mine);
                found = select(seen & mine == 0, word << 5 | mine.trailing_zeros(), NONE);
            } else {
                word = select(word + 1 == words, 0, word + 1);
                bit = 0;
                seen = self.words.load(self.geometry.taken_word(word << 5));
            }
            looks += 1;
        }
        found
    }

    #[inline(always)]
    fn find_row(self, units_log: u32) -> u32 {
        let mut left = self.geometry.chunks >> units_log;
        let mut found = NONE;
        while (found == NONE) & (left != 0) {
            left -= 1;
            let chunk = left << units_log;
            found = select(self.set(chunk, units_log), chunk, NONE);
        }
        found
    }

    /// Sets the bits of a row, all or none.
    #[inline(always)]
    fn set(self, chunk: u32, units_log: u32) -> bool {
        let mask = Geometry::unit_bits(units_log) << (chunk & 31);
        let words = (1u32 << units_log).div_ceil(32);
        let mut done = 0;
        let mut free = true;
        while free & (done < words) {
            let at = self.geometry.taken_word(chunk) + done as usize;
            free = self.words.load(at) & mask == 0;
            if free {
                let old = self.words.fetch_or(at, mask);
                free = old & mask == 0;
                if !free {
                    self.words.fetch_and(at, !(mask & !old));
                }
            }
            done += free as u32;
        }
        if !free {
            self.clear(chunk, units_log, done);
        }
        free
    }

    /// Clears the bits of the first `most` words of a row.
    #[inline(always)]
    fn clear(self, chunk: u32, units_log: u32, most: u32) {
        let mask = Geometry::unit_bits(units_log) << (chunk & 31);
        let words = (1u32 << units_log).div_ceil(32);
        let mut i = 0;
        while i < warpheap_api::least(words, most) {
            let at = self.geometry.taken_word(chunk) + i as usize;
            self.words.fetch_and(at, !mask);
            i += 1;
        }
    }
}
