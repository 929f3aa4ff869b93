//! The way that most requests take: the start page is free, or split as it suits and not yet full, and
//! the bits where it is filled next are clear. Three atomics in a row and no loop; what comes out
//! different goes on in the general way, which could do all of this as well.

use super::search::{Ask, Held};
use super::state::{FREE, chunk_of, count_of, pack};
use super::{Part, ScatterAlloc};
use crate::bits::{low_mask, take_from};
use warpheap_api::HeapMemory;

impl ScatterAlloc {
    /// Reserves all chunks that were asked for on the start page, or none, and claims them as far as
    /// they lie in one word of bits. What is held in the end is reserved and not claimed. `filled` if the page
    /// became full.
    #[inline(always)]
    pub(super) fn take_at_once(self, ask: Ask, part: &mut Part, filled: &mut bool) -> Held {
        let mut held = Held::NONE;
        let page = (ask.block << self.geometry.block_shift()) + ask.start;
        let mut chunk = ask.chunk;
        let mut spots = self.geometry.spots(chunk);
        let within = (self.geometry.page_in_block(ask.start) == ask.start)
            & (page < self.geometry.pages)
            & (ask.wanted <= spots);
        if within {
            let at = self.geometry.state_word(page);
            let new = pack(ask.chunk, ask.wanted);
            // Most start pages are free, so an attempt to split one is as good as a look.
            let mut old = self.words.compare_exchange(at, FREE, new);
            let mut got = old == FREE;
            let mut taken = 0;
            if !got {
                let split = chunk_of(old);
                if (split != chunk) & self.geometry.fits(split, chunk, ask.align) {
                    chunk = split;
                    spots = self.geometry.spots(split);
                }
                if suits(old, chunk, ask.wanted, spots) {
                    if spots <= 32 {
                        // On the way with the addition.
                        taken = self.words.load(self.geometry.bits_word(page));
                    }
                    old = self.words.fetch_add(at, ask.wanted);
                    got = suits(old, chunk, ask.wanted, spots);
                    if !got {
                        if self.geometry.becomes_full(old, ask.wanted) {
                            self.count_full(page, 1);
                        }
                        self.give_back(page, ask.wanted);
                    }
                }
            }
            if got {
                held = Held {
                    page,
                    chunk,
                    count: ask.wanted,
                    before: count_of(old),
                    spots,
                    surplus: 0,
                };
                *filled = held.before + held.count == spots;
                let word = held.before / 32;
                let turn = held.before & 31;
                let mut wanted = low_mask(held.count) << turn;
                if wanted & taken != 0 {
                    wanted = take_from(low_mask(spots) & !taken, held.count, turn);
                }
                self.claim_bits(&mut held, word, wanted, part);
            }
        }
        held
    }
}

/// Whether so many chunks can be reserved on a page in this state.
#[inline(always)]
fn suits(state: u32, chunk: u32, wanted: u32, spots: u32) -> bool {
    (chunk_of(state) == chunk) & (count_of(state) + wanted <= spots)
}
