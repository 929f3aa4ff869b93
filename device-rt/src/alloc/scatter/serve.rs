//! What the quick way left over: the same lanes, from the beginning.
//!
//! The quick way's values are not kept for this, because its registers decide how many warps run at a time. It is
//! told five, and computes the others again.

use super::search::Held;
use super::state::{chunk_of, count_of};
use super::{Chunk, NONE, Part, ScatterAlloc};
use crate::arch;
use crate::bits::nth_set;
use warpheap_api::{AllocError, HeapMemory, LaneMask, select};

/// Rounds in which a team may lose its page to other lanes before it gives up.
const ROUNDS_LOST: u32 = 16;
/// In place of an error's code: look for another page.
const AGAIN: u32 = 0;

impl ScatterAlloc {
    /// Serves the lanes whose `granule` is [`NONE`]: each gets the granule of its block, or an error's
    /// code. Of page `page`, leaders still hold `left` chunks that the quick way reserved, or have to take them
    /// back, see [`Taken`](super::quick::Taken).
    #[inline(always)]
    pub(super) fn serve(
        self,
        lanes: LaneMask,
        granules: u32,
        align: u32,
        page: u32,
        left: u32,
        granule: u32,
    ) -> Chunk {
        let lane = arch::lane();
        // The lane's own numbers, but no compiler knows that. So what follows from them is computed again.
        let granules = arch::shuffle(lanes, granules, lane);
        let granule = arch::shuffle(lanes, granule, lane);
        let chunk = self.chunk_for(granules, align);
        let small = self.is_small(chunk, align);
        let possible = (chunk != u32::MAX) & (align <= super::MOST_ALIGN);
        let waits = granule == NONE;
        let unsupported = AllocError::Unsupported.code();
        let mut answer = Chunk {
            granule,
            code: select(possible, 0, unsupported),
        };
        self.search_together(lanes, waits & small, chunk, align, page, left, &mut answer);
        if waits & possible & !small {
            answer = self.malloc_run(self.geometry.pages_for(granules), align);
        }
        arch::acquire();
        answer
    }

    /// Chunks for the lanes that are `waiting`.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "values, not references, across rare code"
    )]
    fn search_together(
        self,
        lanes: LaneMask,
        waiting: bool,
        chunk: u32,
        align: u32,
        page: u32,
        left: u32,
        answer: &mut Chunk,
    ) {
        let lane = arch::lane();
        let small = self.is_small(chunk, align);
        let chunk = select(small, chunk, 1);
        let team = self.team(lanes, small, chunk, align);
        let leader = team.first();
        let mut ask = self.ask(chunk, align, team.count());
        let mut held = Held::NONE;
        if small & (lane == leader) & (left != 0) {
            held = self.leftover(page, left);
        }
        let mut failures = 0;
        let mut pending = arch::ballot(lanes, waiting);
        // Every round serves a lane of each team that has pending ones, or fails the whole team, or
        // is one of few in which other lanes were faster.
        while !pending.is_empty() {
            let mine = pending.and(team);
            let mut part = Part::NONE;
            if (lane == leader) & !mine.is_empty() {
                if held.count == 0 {
                    ask.wanted = mine.count();
                    held = self.find(ask);
                }
                part.base = AllocError::Exhausted.code();
                if held.count != 0 {
                    self.claim(&mut held, &mut part);
                    ask.start = self.geometry.page_in_block(held.page);
                    ask.block = held.page >> self.geometry.block_shift();
                    ask.looked = false;
                    if part.mask == 0 {
                        self.give_back(held.page, held.count);
                        held.count = 0;
                        failures += 1;
                        let contended = AllocError::Contended.code();
                        part.base = select(failures < ROUNDS_LOST, AGAIN, contended);
                    }
                }
            }
            // The lanes parted; together again they shuffle faster.
            arch::warp_barrier(lanes);
            let base = arch::shuffle(lanes, part.base, leader);
            let mask = arch::shuffle(lanes, part.mask, leader);
            let size = arch::shuffle(lanes, part.chunk, leader);
            let waits = pending.contains(lane);
            let rank = mine.rank(lane);
            let served = waits & (rank < mask.count_ones());
            let failed = waits & (mask == 0) & (base != AGAIN);
            let granule = base.wrapping_add(nth_set(mask, rank).wrapping_mul(size));
            answer.granule = select(served, granule, answer.granule);
            answer.code = select(failed, base, answer.code);
            pending = arch::ballot(lanes, waits & !served & !failed);
        }
    }

    /// What the quick way reserved and did not claim: held now, or taken back.
    #[inline(always)]
    fn leftover(self, page: u32, left: u32) -> Held {
        let mut held = Held::NONE;
        let state = self.words.load(self.geometry.state_word(page));
        let count = left & !super::quick::UNDO;
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
