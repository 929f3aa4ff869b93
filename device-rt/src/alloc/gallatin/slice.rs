//! Slices: the lanes of a warp that ask for the same size claim theirs by one addition to the count of the
//! block in their multiprocessor's buffer (§4.3). The same loop serves requests for blocks and segments, a
//! lane each.

use super::block::{LOST, NO_BLOCK, Refund};
use super::moves::Moves;
use super::request::{Kind, Request};
use super::state::{
    BUSY, EMPTY, HELD, WHOLE, block_count, block_in, block_tag, holds, is_block, none_back, pack,
    tag_for,
};
use super::{Gallatin, MOST_CLASSES};
use crate::sync::{Claimed, Group, Requests, Team, Turn, in_rounds};
use crate::{arch, thread};
use warpheap_api::{AllocError, HeapMemory, least, select};

/// Looks at a buffer that somebody is about to give a block.
const LOOKS: u32 = 64;
/// Fruitless rounds before a team goes on to the next buffer of its class.
const STAYS: u32 = 2;
/// Times that a team begins anew because it found unused blocks in buffers, or others moved memory.
const SWEEPS: u32 = 16;
/// Vain rounds in a row after which a team gets a block for itself. A team that is slow beside others may come too
/// late to each block in the buffers, and lose the buffer to a faster one each time it finds a block spent.
const PATIENCE: u32 = 64;
/// Vain rounds in a row beyond a few for each buffer, after which a team gives up.
const ROUNDS: u32 = 2 * PATIENCE;
/// As many lanes further on in the launch, a buffer is given a block ahead of time: about as many as the largest
/// devices run at a time.
const AHEAD: u32 = 1 << 18;

/// What a lane got: a granule, or an error's code.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub granule: u32,
    pub code: u32,
}

/// How far a team's search is.
#[derive(Clone, Copy)]
struct Search {
    /// Rounds without anything at the buffers, since there was reason to begin anew.
    fruitless: u32,
    /// There was neither a block nor a segment: only what is in buffers can serve.
    dry: bool,
    moves: Moves,
    sweeps: u32,
    /// Rounds in a row in which the team got nothing, whatever the reason.
    vain: u32,
    /// The team took the first slices of a block, and has one round more: for the buffer of lanes that come later.
    ahead: bool,
}

/// What a lane asks for, how far the search of its team is, and what the lane got.
///
/// In [`Claimed`], `base` is the granule of the first slice, `share` says how many there are side by side, and
/// `code` why there are none and will be none.
#[derive(Clone, Copy)]
struct Slices {
    request: Request,
    search: Search,
    answer: Answer,
}

// A round serves lanes of a team, fails them all, or is one of those that the leader counts.
impl<const FULL: bool> Requests<Gallatin, FULL> for Slices {
    const MAY_BE_AHEAD: bool = true;

    #[inline(always)]
    fn claim(&mut self, heap: Gallatin, wanted: u32) -> Claimed {
        heap.round(self.request, wanted, &mut self.search)
    }

    #[inline(always)]
    fn accept(&mut self, _heap: Gallatin, turn: Turn<FULL>, claimed: Claimed) -> bool {
        let slice = self.request.kind == Kind::SLICE;
        let size = select(slice, 1 << self.request.class, 0);
        let served = turn.waits & (turn.rank < claimed.share);
        let failed = turn.waits & !served & (claimed.code != 0);
        let granule = claimed.base.wrapping_add(turn.rank * size);
        self.answer.granule = select(served, granule, self.answer.granule);
        self.answer.code = select(failed, claimed.code, self.answer.code);
        !served & !failed
    }

    #[inline(always)]
    fn is_ahead(&self) -> bool {
        self.search.ahead
    }
}

impl Gallatin {
    /// Collective: serves the lanes of the group.
    #[inline(always)]
    pub(super) fn serve(self, group: Group, request: Request) -> Answer {
        let slice = request.kind == Kind::SLICE;
        let possible = request.kind != Kind::NONE;
        let key = select(slice, request.class, u32::MAX - arch::lane());
        let team = Team::by_key(group, key);
        let mut slices = Slices {
            request,
            search: Search {
                fruitless: 0,
                dry: false,
                moves: Moves::NONE,
                sweeps: 0,
                vain: 0,
                ahead: false,
            },
            answer: Answer {
                granule: 0,
                code: select(possible, 0, AllocError::Unsupported.code()),
            },
        };
        in_rounds(team, possible, self, &mut slices);
        slices.answer
    }

    /// One round of a team that wants as many; of one that wants none any more, for lanes that come later.
    #[inline(always)]
    fn round(self, request: Request, wanted: u32, search: &mut Search) -> Claimed {
        let (geometry, words) = (self.geometry, self.words);
        let class = request.class;
        let slice = request.kind == Kind::SLICE;
        let mut part = Claimed::NOTHING;
        let mut refund = Refund::NONE;
        let index = thread::index();
        let later = wanted == 0;
        let starves = slice & !search.dry & !later & (search.vain >= PATIENCE);

        let buffers = 1u32 << geometry.buffers_log(class);
        let visited = select(later, 0, search.fruitless / STAYS);
        let first = geometry.buffer_of(class, index.wrapping_add(select(later, AHEAD, 0)));
        let buffer = first.wrapping_add(visited) & (buffers - 1);
        let number = geometry.buffers_before(class) + buffer;
        let at = geometry.buffer_word(number);
        // Whoever leaves the buffer busy is the one to give it a block.
        let mut held = false;
        let mut seen = EMPTY;
        let mut mark = EMPTY;
        if slice {
            seen = words.load(at);
            let mut looks = 0;
            let most = select(search.dry | later | starves, 0, LOOKS);
            while !is_block(seen) & (seen != EMPTY) & (looks < most) {
                seen = words.load(at);
                looks += 1;
            }
            let mut spent = seen == EMPTY;
            search.moves.disturb(seen == HELD);
            if is_block(seen) {
                let block = block_in(seen);
                let taken = words.fetch_add(geometry.taken_word(block), wanted);
                let claimed = self.refund(block, taken, wanted);
                let right = block_tag(taken) == tag_for(class);
                let count = select(right, claimed.count, 0);
                part.base = geometry.block_granule(block) + (block_count(taken) << class);
                part.share = count;
                // The block went another way since it was in this buffer: what was claimed goes back.
                refund = claimed;
                refund.count = claimed.count - count;
                spent = !right | (block_count(taken) + wanted >= geometry.slices(class));
            }
            if spent & !search.dry {
                // What was claimed in vain goes back first; the next round finds the buffer empty.
                let clear = refund.count != 0;
                mark = select(clear, EMPTY, select(is_block(seen), HELD, BUSY));
                held = (words.compare_exchange(at, seen, mark) == seen) & !clear;
                // It may have come back since, with new slices.
                if held & is_block(seen) {
                    // Else its old count could be seen here, and nobody would come to the new slices.
                    words.acquire();
                    if self.has_slices(block_in(seen), class) {
                        if words.compare_exchange(at, mark, seen) != mark {
                            refund = self.drain(block_in(seen), class);
                        }
                        held = false;
                    }
                }
            }
            search.fruitless += select(search.dry, STAYS, 1);
        }
        // A block for the buffer; without one if all buffers are busy; for the team itself; or for a whole
        // request.
        let fruitless = (part.share == 0) & (refund.count == 0);
        let astray = slice & !search.dry & (visited >= buffers) & fruitless & !later;
        let whole = request.kind == Kind::WHOLE;
        let asks =
            held | (astray & !is_block(seen)) | (starves & fruitless) | (whole & !search.dry);
        if asks {
            let block = self.get_block(class, buffer, &mut search.moves);
            if block < LOST {
                let first = select(part.share == 0, least(wanted, geometry.slices(class)), 0);
                let back = select(whole, 0, none_back(number));
                let tag = select(whole, WHOLE, tag_for(class));
                self.set_block(block, back, pack(tag, select(whole, 0, first)));
                // Who waited for another one to fill the buffer in vain does it instead. A block in a buffer is
                // not replaced: it may have come back, with new slices that nobody else could come to.
                let before = select(held, mark, seen);
                let fills = !whole & !is_block(before);
                let filled = fills && words.compare_exchange(at, before, holds(block)) == before;
                if !whole & !filled {
                    // What nobody can come to goes back: all of it if the buffer has slices from that other one.
                    refund = self.drain(block, class);
                    refund.count += select(starves, 0, first);
                }
                if whole | filled | starves {
                    let count = select(whole, 1, first);
                    part.base = select(count != 0, geometry.block_granule(block), part.base);
                    part.share = select(count != 0, count, part.share);
                }
            } else if held {
                words.compare_exchange(at, mark, EMPTY);
            }
            search.dry = (block == NO_BLOCK) & !later;
            search.fruitless = select(search.dry, 0, search.fruitless);
        }
        if (request.kind == Kind::RUN) & !search.dry {
            let (granule, code) =
                self.claim_segments(request.segments, request.align, &mut search.moves);
            part.base = granule;
            part.share = (code == 0) as u32;
            search.dry = code == AllocError::Exhausted.code();
            part.code = select(search.dry, 0, code);
        }
        // Dry, and no buffer of the class has anything: blocks of any class that nobody uses.
        let over =
            search.dry & (part.share == 0) & (!slice | (search.fruitless >= buffers * STAYS));
        let end = select(over, geometry.buffers_before(geometry.classes()), 0);
        let mut next = 0;
        let mut found = 0;
        while (refund.count != 0) | (next < end) {
            if refund.count == 0 {
                (refund, next) = self.take_unused(next, end, &mut search.moves);
                found += refund.count;
            }
            if refund.count != 0 {
                // The count of those that are back is the one that was set before these could be claimed.
                words.acquire();
                self.free_slices(refund);
                refund.count = 0;
            }
        }
        self.end(&mut search.moves);
        if over {
            // Only who has seen all there is may say that there is nothing.
            let nothing = (found == 0) & self.was_still(search.moves);
            let again = !nothing & (search.sweeps < SWEEPS);
            let why = select(
                nothing,
                AllocError::Exhausted.code(),
                AllocError::Contended.code(),
            );
            part.code = select(again, 0, why);
            search.sweeps += 1;
            search.dry = false;
            search.fruitless = 0;
        }
        // The first slices of a block, and the launch goes on far behind them.
        let opens = slice & (part.share != 0) & geometry.begins_block(part.base, class);
        let more = index.wrapping_add(AHEAD) < thread::count();
        search.ahead = !later & (search.ahead | (opens & more));
        search.vain = select(part.share == 0, search.vain + !later as u32, 0);
        let most = buffers * STAYS * (SWEEPS + 2) + ROUNDS;
        let lost = (part.code == 0) & (search.vain > most);
        part.code = select(lost, AllocError::Contended.code(), part.code);
        part
    }
}

// The sums of `buffers_before` hold one class more than there are.
const _: () = assert!(MOST_CLASSES < 30);
