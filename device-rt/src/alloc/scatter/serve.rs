//! What the quick way left over: the same lanes, from the beginning.
//!
//! The quick way's values are not kept for this, because its registers decide how many warps run at a time. It is
//! told five, and computes the others again.

use super::quick::{Quick, UNDO};
use super::search::{Ask, Held};
use super::state::{chunk_of, count_of};
use super::{Chunk, NONE, Part, ScatterAlloc};
use crate::arch;
use crate::bits::nth_set;
use crate::sync::{Claimed, Group, Requests, Turn, in_rounds};
use warpheap_api::{AllocError, HeapMemory, select};

/// Rounds in which a team may lose its page to other lanes before it gives up.
const ROUNDS_LOST: u32 = 16;
/// In place of an error's code: look for another page.
const AGAIN: u32 = 0;

/// Chunks for the lanes of a team.
///
/// In [`Claimed`], `base` is the granule of the first of 32 chunks, `share` says which of them, and `code` is a
/// chunk's granules; where `share` is empty, `code` is an error's code or [`AGAIN`].
#[derive(Clone, Copy)]
struct Chunks {
    ask: Ask,
    held: Held,
    failures: u32,
    answer: Chunk,
}

// Every round serves a lane of each team that has some that wait, or fails the whole team, or is one of few in
// which other lanes were faster.
impl<const FULL: bool> Requests<ScatterAlloc, FULL> for Chunks {
    #[inline(always)]
    fn claim(&mut self, heap: ScatterAlloc, wanted: u32) -> Claimed {
        if self.held.count == 0 {
            self.ask.wanted = wanted;
            self.held = heap.find(self.ask);
        }
        let mut part = Part::NONE;
        let mut code = AllocError::Exhausted.code();
        if self.held.count != 0 {
            heap.claim(&mut self.held, &mut part);
            self.ask.start = heap.geometry.page_in_block(self.held.page);
            self.ask.block = self.held.page >> heap.geometry.block_shift();
            self.ask.looked = false;
            code = part.chunk;
            if part.mask == 0 {
                heap.give_back(self.held.page, self.held.count);
                self.held.count = 0;
                self.failures += 1;
                let contended = AllocError::Contended.code();
                code = select(self.failures < ROUNDS_LOST, AGAIN, contended);
            }
        }
        Claimed {
            base: part.base,
            share: part.mask,
            code,
        }
    }

    #[inline(always)]
    fn accept(&mut self, _heap: ScatterAlloc, turn: Turn<FULL>, claimed: Claimed) -> bool {
        let served = turn.waits & (turn.rank < claimed.share.count_ones());
        let failed = turn.waits & (claimed.share == 0) & (claimed.code != AGAIN);
        let place = nth_set(claimed.share, turn.rank).wrapping_mul(claimed.code);
        let granule = claimed.base.wrapping_add(place);
        self.answer.granule = select(served, granule, self.answer.granule);
        self.answer.code = select(failed, claimed.code, self.answer.code);
        !served & !failed
    }
}

impl ScatterAlloc {
    /// Collective: serves the lanes whose granule is [`NONE`]: each gets the granule of its block, or an error's
    /// code. Of their page, leaders still hold chunks that the quick way reserved, or have to take them back.
    #[inline(always)]
    pub(super) fn serve(self, group: Group, granules: u32, align: u32, quick: Quick) -> Chunk {
        let lane = arch::lane();
        // The lane's own numbers, but no compiler knows that. So what follows from them is computed again.
        let granules = group.shuffle(granules, lane);
        let granule = group.shuffle(quick.granule, lane);
        let chunk = self.chunk_for(granules, align);
        let small = self.is_small(chunk, align);
        let possible = (chunk != u32::MAX) & (align <= super::MOST_ALIGN);
        let waits = granule == NONE;
        let unsupported = AllocError::Unsupported.code();
        let chunk = select(small, chunk, 1);
        let team = self.team(group, small, chunk, align);
        let mut chunks = Chunks {
            ask: self.ask(chunk, align, team.count()),
            held: Held::NONE,
            failures: 0,
            answer: Chunk {
                granule,
                code: select(possible, 0, unsupported),
            },
        };
        if small & team.leads() & (quick.left != 0) {
            chunks.held = self.leftover(quick.page, quick.left);
        }
        in_rounds(team, waits & small, self, &mut chunks);
        let mut answer = chunks.answer;
        if waits & possible & !small {
            answer = self.malloc_run(self.geometry.pages_for(granules), align);
        }
        group.acquire();
        answer
    }

    /// What the quick way reserved and did not claim: held now, or taken back.
    #[inline(always)]
    fn leftover(self, page: u32, left: u32) -> Held {
        let mut held = Held::NONE;
        let state = self.words.load(self.geometry.state_word(page));
        let count = left & !UNDO;
        if count == left {
            // As long as something is held the page stays split as it is.
            let chunk = chunk_of(state);
            held = Held {
                page,
                chunk,
                count,
                before: count_of(state),
                spots: self.geometry.spots(chunk),
                surplus: 0,
            };
        } else {
            self.give_back(page, count);
        }
        held
    }
}
