//! Chunks of one page: reserving some, finding their bits, giving them back.

use super::search::{Ask, Held};
use super::state::{FREE, chunk_of, count_of, is_multi, pack};
use super::{Part, ScatterAlloc};
use crate::bits::{low_mask, take_from};
use crate::sync::{Group, Team};
use warpheap_api::{HeapMemory, least, select};

/// Attempts on one word of bits while others change it, before the next word is tried.
const ATTEMPTS: u32 = 4;

impl ScatterAlloc {
    /// Reserves chunks on a page if its chunks suit (`tryUsePage` of §6.1), splitting it if it is
    /// free: up to as many as were asked for, perhaps none.
    #[inline(always)]
    pub(super) fn reserve(self, page: u32, ask: Ask) -> Held {
        let at = self.geometry.state_word(page);
        let mut held = Held::NONE;
        held.page = page;
        let mut became_full = false;
        let mut spots = self.geometry.spots(ask.chunk);
        let mut seen = self.words.load(at);
        if seen == FREE {
            let count = least(ask.wanted, spots);
            seen = self
                .words
                .compare_exchange(at, FREE, pack(ask.chunk, count));
            if seen == FREE {
                became_full = count == spots;
                held.chunk = ask.chunk;
                held.count = count;
            }
        }
        // Someone else may have split it in a way that suits as well.
        let chunk = chunk_of(seen);
        if (held.count == 0) & (chunk != 0) & self.geometry.fits(chunk, ask.chunk, ask.align) {
            if chunk != ask.chunk {
                spots = self.geometry.spots(chunk);
            }
            if count_of(seen) < spots {
                let count = least(ask.wanted, spots - count_of(seen));
                let old = self.words.fetch_add(at, count);
                // What it was at the moment of the addition decides.
                held.chunk = chunk;
                held.before = count_of(old);
                let room = spots.wrapping_sub(held.before);
                let suits = (chunk_of(old) == chunk) & (held.before < spots);
                held.count = select(suits, least(count, room), 0);
                became_full = self.geometry.becomes_full(old, count);
                held.surplus = count - held.count;
            }
        }
        held.spots = spots;
        if became_full {
            self.count_full(page, 1);
        }
        held
    }

    /// Takes from the count of a page. The last one to leave resets the page, which may then be
    /// split anew (§6.2): the state has no other lane's reservation at that moment, so no lock is
    /// needed.
    #[inline(always)]
    pub(super) fn give_back(self, page: u32, count: u32) {
        let new = self.take_off(page, count) - count;
        if self.geometry.becomes_full(new, count) && self.count_full(page, u32::MAX) {
            self.reactivate(page);
        }
    }

    /// Claims bits for chunks that are held: at least one, in one word of the page.
    ///
    /// The search begins where a page that was filled in order has its next free chunk. The
    /// reservation promises that there are free bits, unless other lanes change words faster than
    /// this one looks at them.
    #[inline(always)]
    pub(super) fn claim(self, held: &mut Held, part: &mut Part) {
        let words = held.spots.div_ceil(32);
        self.after_marks(held.spots);
        let hints = self.geometry.bits_word(held.page);
        let first = held.before / 32;
        let mut word = select(first < words, first, 0);
        let mut looked = 0;
        let mut passed = 0;
        // The first time around past the words that are marked as full, then through all of them.
        while (part.mask == 0) & (looked < 2 * words) {
            if (looked >= words) | (passed >> word & 1 == 0) {
                self.claim_in(held, word, part);
            }
            if (looked == 0) & (words > 1) & (part.mask == 0) {
                passed = self.words.load(hints);
            }
            word = select(word + 1 == words, 0, word + 1);
            looked += 1;
        }
    }

    /// Claims bits of one word: some of those that are free and no more than are held.
    #[inline(always)]
    fn claim_in(self, held: &mut Held, word: u32, part: &mut Part) {
        let valid = low_mask(held.spots - word * 32);
        let turn = held.before & 31;
        let next = (low_mask(held.count) << turn) & valid;
        let mut wanted = select(next != 0, next, low_mask(held.count) & valid);
        let mut attempt = 0;
        while (part.mask == 0) & (wanted != 0) & (attempt < ATTEMPTS) {
            let taken = self.claim_bits(held, word, wanted, part);
            wanted = take_from(valid & !taken, held.count, turn);
            attempt += 1;
        }
    }

    /// The other half of the release in [`free_chunks`](Self::free_chunks), for a page whose one word of bits may have
    /// had marks.
    #[inline(always)]
    pub(super) fn after_marks(self, spots: u32) {
        if (spots > 1) & (spots <= 32) {
            self.words.acquire();
        }
    }

    /// Claims those bits of a word that are clear, and returns all that are set then.
    #[inline(always)]
    pub(super) fn claim_bits(
        self,
        held: &mut Held,
        word: u32,
        wanted: u32,
        part: &mut Part,
    ) -> u32 {
        let many = held.spots > 32;
        let mut old = 0;
        // Where a page is one chunk, who has reserved it has it.
        if held.spots > 1 {
            old = self
                .words
                .fetch_or(self.bit_word(held.page, word, many), wanted);
        }
        let got = wanted & !old;
        if many & (got != 0) & (old | wanted == low_mask(held.spots - word * 32)) {
            self.words
                .fetch_or(self.geometry.bits_word(held.page), 1 << word);
        }
        held.count -= got.count_ones();
        held.before += got.count_ones();
        part.mask = got;
        part.chunk = held.chunk;
        part.base = self.geometry.page_granule(held.page) + word * 32 * held.chunk;
        old | wanted
    }

    /// The word with the bits of chunks `32 * word` and following.
    #[inline(always)]
    pub(super) fn bit_word(self, page: u32, word: u32, many: bool) -> usize {
        let second = self.geometry.second_word(page) as u32 + word;
        select(many, second, self.geometry.bits_word(page) as u32) as usize
    }

    /// Collective: frees the chunks at these granules (§6.2), the ones of a word together.
    #[inline(always)]
    pub(super) fn free_chunks(self, group: Group, small: bool, granule: u32) {
        let mut page = 0;
        let mut seen = FREE;
        let mut chunk = 1;
        let mut spot = 0;
        if small {
            page = self.geometry.page_of(granule);
            seen = self.words.load(self.geometry.state_word(page));
            chunk = chunk_of(seen);
            // Not zero for a block of this heap; for any other the answer does not matter, but a
            // division must not trap.
            chunk += (chunk == 0) as u32;
            spot = self.geometry.in_page(granule) / chunk;
        }
        let spots = self.geometry.spots(chunk);
        let key = select(
            small,
            self.geometry.page_granule(page) + spot / 32,
            u32::MAX,
        );
        let team = Team::by_key(group, key);
        let mask = team.union_to_leader(1 << (spot & 31));
        let mut opened = false;
        if small & team.leads() {
            let many = spots > 32;
            let word = spot / 32;
            if spots > 1 {
                self.words.fetch_and(self.bit_word(page, word, many), !mask);
            }
            if many {
                // Always, not only for a word that was full: who filled it may have set its mark
                // after another lane's free. So a mark is cleared at the latest with the chunks of
                // the lane that set it, and a page that is reset has none.
                self.words
                    .fetch_and(self.geometry.bits_word(page), !(1 << word));
                // Before the page can be split anew: into fewer chunks, the word has their bits.
                self.words.release();
            }
            opened = self.leave(page, seen, mask.count_ones());
        }
        self.count_together(group, page, opened, u32::MAX);
    }

    /// Takes from the count of a page that was in the state `seen`; true if it was full.
    #[inline(always)]
    fn leave(self, page: u32, seen: u32, count: u32) -> bool {
        let at = self.geometry.state_word(page);
        let mut old = seen.wrapping_add(1);
        if count_of(seen) == count {
            // The only ones there, as it seems: they reset the page at once.
            old = self.words.compare_exchange(at, seen, FREE);
        }
        if old != seen {
            old = self.take_off(page, count);
        }
        self.geometry.becomes_full(old.wrapping_sub(count), count)
    }

    /// Subtracts from the count of a page and resets it if that was the last of it; what it was before.
    #[inline(always)]
    fn take_off(self, page: u32, count: u32) -> u32 {
        let at = self.geometry.state_word(page);
        let old = self.words.fetch_sub(at, count);
        let new = old - count;
        if (count_of(new) == 0) & (new != FREE) & !is_multi(new) {
            self.words.compare_exchange(at, new, FREE);
        }
        old
    }
}
