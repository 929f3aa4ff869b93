//! Slices: the lanes of a warp that ask for the same size claim theirs by one addition to the count of the
//! block in their multiprocessor's buffer (§4.3). The same loop serves requests for blocks and segments, a
//! lane each.

use super::block::{LOST, NO_BLOCK, Refund};
use super::request::{Kind, Request};
use super::state::{
    BUSY, EMPTY, WHOLE, block_count, block_in, block_tag, holds, is_block, pack, tag_for,
};
use super::{Gallatin, MOST_CLASSES};
use crate::arch;
use warpheap_api::{AllocError, HeapMemory, least, select};

/// Looks at a buffer that somebody is about to give a block.
const LOOKS: u32 = 32;
/// Fruitless rounds before a team goes on to the next buffer of its class.
const STAYS: u32 = 2;
/// Times that a team takes unused blocks out of the buffers of all classes.
const SWEEPS: u32 = 4;
/// Rounds of a team beyond a few for each buffer.
const ROUNDS: u32 = 64;

/// What a lane got: a granule, or an error's code.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub granule: u32,
    pub code: u32,
}

/// What the leader of a team has for its lanes after a round.
#[derive(Clone, Copy)]
struct Part {
    /// Granule of the first one.
    base: u32,
    /// How many, side by side.
    count: u32,
    /// Why there are none and will be none.
    code: u32,
}

impl Part {
    const NONE: Part = Part {
        base: 0,
        count: 0,
        code: 0,
    };
}

/// How far a team's search is.
#[derive(Clone, Copy)]
struct Search {
    /// Rounds without anything at the buffers, since there was reason to begin anew.
    fruitless: u32,
    /// There was neither a block nor a segment: only what is in buffers can serve.
    dry: bool,
    sweeps: u32,
    rounds: u32,
}

impl Gallatin {
    /// Serves the calling lane, together with the others that are here.
    #[inline(always)]
    pub(super) fn serve(self, request: Request) -> Answer {
        let lanes = arch::active();
        let lane = arch::lane();
        let slice = request.kind == Kind::SLICE;
        let possible = request.kind != Kind::NONE;
        let key = select(slice, request.class, u32::MAX - lane);
        let team = arch::match_any(lanes, key);
        let leader = team.first();
        let mut search = Search {
            fruitless: 0,
            dry: false,
            sweeps: 0,
            rounds: 0,
        };
        let mut answer = Answer {
            granule: 0,
            code: select(possible, 0, AllocError::Unsupported.code()),
        };
        let size = select(slice, 1 << request.class, 0);
        let mut pending = arch::ballot(lanes, possible);
        // A round serves lanes of a team, fails them all, or is one of those that the leader counts.
        while !pending.is_empty() {
            let mine = pending.and(team);
            let mut part = Part::NONE;
            if (lane == leader) & !mine.is_empty() {
                part = self.round(request, mine.count(), &mut search);
            }
            // The lanes parted; together again they shuffle faster.
            arch::warp_barrier(lanes);
            let base = arch::shuffle(lanes, part.base, leader);
            let count = arch::shuffle(lanes, part.count, leader);
            let code = arch::shuffle(lanes, part.code, leader);
            let waits = pending.contains(lane);
            let rank = mine.rank(lane);
            let served = waits & (rank < count);
            let failed = waits & !served & (code != 0);
            answer.granule = select(served, base.wrapping_add(rank * size), answer.granule);
            answer.code = select(failed, code, answer.code);
            pending = arch::ballot(lanes, waits & !served & !failed);
        }
        answer
    }

    /// One round of a team that wants as many.
    #[inline(always)]
    fn round(self, request: Request, wanted: u32, search: &mut Search) -> Part {
        let (geometry, words) = (self.geometry, self.words);
        let class = request.class;
        let slice = request.kind == Kind::SLICE;
        let mut part = Part::NONE;
        let mut refund = Refund::NONE;

        let buffers = 1u32 << geometry.buffers_log(class);
        let visited = search.fruitless / STAYS;
        let buffer = arch::processor().wrapping_add(visited) & (buffers - 1);
        let at = geometry.buffer_word(geometry.buffers_before(class) + buffer);
        // Whoever leaves the buffer busy is the one to give it a block.
        let mut held = false;
        if slice {
            let mut seen = words.load(at);
            let mut looks = 0;
            while (seen == BUSY) & !search.dry & (looks < LOOKS) {
                seen = words.load(at);
                looks += 1;
            }
            let mut spent = (seen == EMPTY) & !search.dry;
            if is_block(seen) {
                let block = block_in(seen);
                let taken = words.fetch_add(geometry.taken_word(block), wanted);
                let claimed = self.refund(block, taken, wanted);
                let right = block_tag(taken) == tag_for(class);
                let count = select(right, claimed.count, 0);
                part.base = geometry.block_granule(block) + (block_count(taken) << class);
                part.count = count;
                // The block went another way since it was in this buffer: what was claimed goes back.
                refund = claimed;
                refund.count = claimed.count - count;
                spent = !right | (block_count(taken) + wanted >= geometry.slices(class));
            }
            if spent {
                held = words.compare_exchange(at, seen, BUSY) == seen;
                // It may have come back since, with new slices.
                if held & is_block(seen) && self.has_slices(block_in(seen), class) {
                    words.store(at, seen);
                    held = false;
                }
            }
            search.fruitless += select(search.dry, STAYS, 1);
        }
        // A block for the buffer; without one if all buffers are busy; or for a whole request.
        let fruitless = (part.count == 0) & (refund.count == 0);
        let astray = slice & !search.dry & (visited >= buffers) & fruitless;
        let whole = request.kind == Kind::WHOLE;
        let asks = held & !search.dry | astray | (whole & !search.dry);
        let mut block = NO_BLOCK;
        if asks {
            block = self.get_block(class);
            if block < LOST {
                let first = select(part.count == 0, least(wanted, geometry.slices(class)), 0);
                let count = select(whole, 1, first);
                let tag = select(whole, WHOLE, tag_for(class));
                part.base = select(count != 0, geometry.block_granule(block), part.base);
                part.count = select(count != 0, count, part.count);
                words.store(
                    geometry.taken_word(block),
                    pack(tag, select(whole, 0, count)),
                );
                words.release();
                if astray & !held {
                    // Into the buffer if it is empty by now; else the rest goes back.
                    if words.compare_exchange(at, EMPTY, holds(block)) != EMPTY {
                        refund = self.drain(block, class);
                    }
                }
            }
            search.dry = block == NO_BLOCK;
            search.fruitless = select(search.dry, 0, search.fruitless);
        }
        if held {
            words.store(at, select(block < LOST, holds(block), EMPTY));
        }
        if (request.kind == Kind::RUN) & !search.dry {
            let (granule, code) = self.claim_segments(request.segments, request.align);
            part.base = granule;
            part.count = (code == 0) as u32;
            search.dry = code == AllocError::Exhausted.code();
            part.code = select(search.dry, 0, code);
        }
        // Dry, and no buffer of the class has anything: blocks of any class that nobody uses.
        let over =
            search.dry & (part.count == 0) & (!slice | (search.fruitless >= buffers * STAYS));
        let end = select(over, geometry.buffers_before(geometry.classes()), 0);
        let mut next = 0;
        let mut found = 0;
        while (refund.count != 0) | (next < end) {
            if refund.count == 0 {
                (refund, next) = self.take_unused(next, end);
                found += refund.count;
            }
            if refund.count != 0 {
                self.free_slices(refund);
                refund.count = 0;
            }
        }
        if over {
            let again = (found != 0) & (search.sweeps < SWEEPS);
            let why = select(
                found == 0,
                AllocError::Exhausted.code(),
                AllocError::Contended.code(),
            );
            part.code = select(again, 0, why);
            search.sweeps += 1;
            search.dry = false;
            search.fruitless = 0;
        }
        search.rounds += (part.count == 0) as u32;
        let most = buffers * STAYS * (SWEEPS + 2) + ROUNDS;
        let lost = (part.count == 0) & (part.code == 0) & (search.rounds > most);
        part.code = select(lost, AllocError::Contended.code(), part.code);
        part
    }
}

// The sums of `buffers_before` hold one class more than there are.
const _: () = assert!(MOST_CLASSES < 30);
