//! The way that most requests take: the start page is free, or split as it suits and not yet full, and
//! the bits where it is filled next are clear. Three atomics in a row and no loop; what comes out
//! different goes on in the general way, which could do all of this as well.

use super::search::{Ask, Held};
use super::state::{FREE, chunk_of, count_of, pack};
use super::{NONE, Part, ScatterAlloc};
use crate::arch;
use crate::bits::{low_mask, nth_set, take_from};
use crate::sync::Group;
use warpheap_api::{HeapMemory, select};

/// In [`Taken::left`] and [`Quick::left`]: the chunks were not the team's to reserve, and their number has to be taken back.
pub(super) const UNDO: u32 = 1 << 31;

/// What the quick way came to, for one lane.
#[derive(Clone, Copy)]
pub(super) struct Quick {
    /// The granule of the lane's block, or [`NONE`].
    pub(super) granule: u32,
    /// Of leaders: the page.
    pub(super) page: u32,
    /// Of leaders: chunks reserved there and not claimed; with [`UNDO`], to be given back.
    pub(super) left: u32,
    /// Whether lanes of the group have no block yet: the same for all of them.
    pub(super) rest: bool,
}

/// What a leader got the quick way.
#[derive(Clone, Copy)]
struct Taken {
    /// Chunks.
    part: Part,
    /// The page.
    page: u32,
    /// Chunks reserved there and not claimed; with [`UNDO`], to be given back.
    left: u32,
    /// Whether the page became full.
    filled: bool,
}

impl Taken {
    const NONE: Taken = Taken {
        part: Part::NONE,
        page: 0,
        left: 0,
        filled: false,
    };
}

impl ScatterAlloc {
    /// Collective: serves all lanes that it can.
    #[inline(always)]
    pub(super) fn quick<const FULL: bool>(
        self,
        group: Group<FULL>,
        granules: u32,
        align: u32,
    ) -> Quick {
        let chunk = self.chunk_for(granules, align);
        let small = self.is_small(chunk, align);
        let chunk = select(small, chunk, 1);
        let team = self.team(group, small, chunk, align);
        let mut taken = Taken::NONE;
        if small & team.leads() {
            taken = self.take_at_once(self.ask(chunk, align, team.count()));
        }
        self.count_together(group, taken.page, taken.filled, 1);
        group.acquire();
        let base = team.broadcast(taken.part.base);
        let mask = team.broadcast(taken.part.mask);
        let size = team.broadcast(taken.part.chunk);
        let rank = team.rank();
        let granule = base.wrapping_add(nth_set(mask, rank).wrapping_mul(size));
        let granule = select(rank < mask.count_ones(), granule, NONE);
        Quick {
            granule,
            page: taken.page,
            left: taken.left,
            rest: group.any(granule == NONE),
        }
    }

    /// Reserves all chunks that were asked for on the start page, or none, and claims them as far as
    /// they lie in one word of bits.
    #[inline(always)]
    fn take_at_once(self, ask: Ask) -> Taken {
        let mut taken = Taken::NONE;
        taken.page = (ask.block << self.geometry.block_shift()) + ask.start;
        let at = self.geometry.state_word(taken.page);
        let mut chunk = ask.chunk;
        let mut spots = self.geometry.spots(chunk);
        let within = (self.geometry.page_in_block(ask.start) == ask.start)
            & (taken.page < self.geometry.pages)
            & (ask.wanted <= spots);
        if within {
            // Most start pages are free, so an attempt to split one is as good as a look.
            let new = pack(ask.chunk, ask.wanted);
            let mut old = self.words.compare_exchange(at, FREE, new);
            let mut got = old == FREE;
            let mut set = 0;
            if !got {
                let split = chunk_of(old);
                if (split != chunk) & self.geometry.fits(split, chunk, ask.align) {
                    chunk = split;
                    spots = self.geometry.spots(split);
                }
                if suits(old, chunk, ask.wanted, spots) {
                    if ask.wanted < 32 {
                        // On the way with the addition.
                        let (word, many) = self.own_word(chunk, spots);
                        set = self.words.load(self.bit_word(taken.page, word, many));
                    }
                    old = self.words.fetch_add(at, ask.wanted);
                    got = suits(old, chunk, ask.wanted, spots);
                    taken.left = select(got, 0, ask.wanted | UNDO);
                }
            }
            if taken.left != 0 {
                // Whoever adds to a page in vain may fill it as well: its count is what says so.
                taken.filled = self.geometry.becomes_full(old, ask.wanted);
            }
            if got {
                let mut held = Held {
                    page: taken.page,
                    chunk,
                    count: ask.wanted,
                    before: count_of(old),
                    spots,
                    surplus: 0,
                };
                taken.filled = held.before + held.count == spots;
                let (word, many) = self.own_word(chunk, spots);
                let turn = select(many, 0, held.before & 31);
                let mut wanted = low_mask(held.count) << turn;
                if wanted & set != 0 {
                    let free = low_mask(spots - word * 32) & !set;
                    wanted = take_from(free, held.count, turn);
                }
                self.after_marks(spots);
                self.claim_bits(&mut held, word, wanted, &mut taken.part);
                taken.left = held.count;
            }
        }
        taken
    }

    /// The word of a page's bits in which the lane's team claims, and whether it is one of the second level. Each
    /// warp that has the page as its start page has a word of its own there, so no team crosses two.
    #[inline(always)]
    fn own_word(self, chunk: u32, spots: u32) -> (u32, bool) {
        let words = (1u32 << self.geometry.spots_shift(chunk)) >> 5;
        let last = select(words == 0, 0, words.wrapping_sub(1));
        (arch::thread_index() >> 5 & last, spots > 32)
    }
}

/// Whether so many chunks can be reserved on a page in this state.
#[inline(always)]
fn suits(state: u32, chunk: u32, wanted: u32, spots: u32) -> bool {
    (chunk_of(state) == chunk) & (count_of(state) + wanted <= spots)
}
