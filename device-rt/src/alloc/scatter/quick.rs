//! The way that most requests take: the start page is free, or split as it suits and not yet full, and
//! the bits where it is filled next are clear. Three atomics in a row and no loop; what comes out
//! different goes on in the general way, which could do all of this as well.

use super::search::{Ask, Held};
use super::state::{FREE, chunk_of, count_of, pack};
use super::{Part, ScatterAlloc};
use crate::bits::low_mask;
use warpheap_api::HeapMemory;

impl ScatterAlloc {
    /// Reserves all chunks that were asked for on the start page, or none, and claims them as far as
    /// they lie in one word of bits. What is held in the end is reserved and not claimed.
    #[inline(always)]
    pub(super) fn take_at_once(self, ask: Ask, part: &mut Part) -> Held {
        let mut held = Held::NONE;
        let page = (ask.block << self.geometry.block_shift()) + ask.start;
        let spots = self.geometry.spots(ask.chunk);
        let within = (self.geometry.page_in_block(ask.start) == ask.start)
            & (page < self.geometry.pages)
            & (ask.wanted <= spots);
        if within {
            let at = self.geometry.state_word(page);
            let new = pack(ask.chunk, ask.wanted);
            // Most start pages are free, so an attempt to split one is as good as a look.
            let mut old = self.words.compare_exchange(at, FREE, new);
            let mut got = old == FREE;
            if !got & suits(old, ask, spots) {
                old = self.words.fetch_add(at, ask.wanted);
                got = suits(old, ask, spots);
                if !got {
                    if self.geometry.becomes_full(old, ask.wanted) {
                        self.count_full(page, 1);
                    }
                    self.give_back(page, ask.wanted);
                }
            }
            if got {
                held = Held {
                    page,
                    chunk: ask.chunk,
                    count: ask.wanted,
                    before: count_of(old),
                    spots,
                    surplus: 0,
                };
                if held.before + held.count == spots {
                    self.count_full(page, 1);
                }
                let word = held.before / 32;
                let wanted = low_mask(held.count) << (held.before & 31);
                self.claim_bits(&mut held, word, wanted, part);
            }
        }
        held
    }
}

/// Whether all chunks that were asked for can be reserved on a page in this state.
#[inline(always)]
fn suits(state: u32, ask: Ask, spots: u32) -> bool {
    (chunk_of(state) == ask.chunk) & (count_of(state) + ask.wanted <= spots)
}
