//! A word that only moves forward through what there is: how allocators claim that never free.
//!
//! A group that asks for little *adds* it, without a look before: one access to the word that all meet on. If that
//! carries the word beyond the limit, nobody gets anything from there until the same group has put it back. A
//! group that asks for much, or that found the word beyond the limit, goes *in rounds*: it looks, and moves the
//! word by a compare-and-swap for as many of its lanes as there is room for, all at once.
//!
//! *Nothing is handed out twice.* Where the word is at or below the limit, nothing from there on was handed out.
//! What a group gets lies between two values of the word that are both at or below the limit, the first of which
//! it read in the moment in which it wrote the second. Only one group can carry the word from there to beyond the
//! limit, others that add then find it beyond already. The store of that group puts it back to where it was, and
//! with it all additions that came since, of which nobody took anything.
//!
//! *The word does not wrap.* A lane's part of an addition is at most [`most_added`](Frontier::most_added)`(1)`: what
//! is left of 32 bits behind the limit, over [`MOST_LANES`]. A group that found the word beyond adds nothing more
//! until it saw it at or below the limit (or gave up after [`MOST_LOOKS`] looks). So of the additions that carried
//! the word to where it is, beyond the limit, no two have a lane in common.
//!
//! *No lane fails while there is room for it*, among as many lanes as that, each of which asks once. A lane fails as
//! [`Exhausted`](AllocError::Exhausted) after a look at which its request did not fit. It fails as
//! [`Contended`](AllocError::Contended) after so many rounds in which its group lost the word to others, and each
//! time one of them had changed it: for a request that is at most an addition, a store that puts it back, and a
//! compare-and-swap, and `MOST_LOST` is more than that for all of them. Only who sees the word beyond the limit
//! [`MOST_LOOKS`] times in a row fails too: whoever is to put it back does not run, and may be a lane of the same
//! warp, which would not run for as long as this one looks.

use crate::arch::{self, Group, Words};
use crate::sync::{group_sum, hash, last_lane};
use crate::thread;
use warpheap_api::{AllocError, HeapMemory, least, select};

/// In place of a unit: none.
pub(super) const NONE: u32 = u32::MAX;
/// Two to this power lanes may add at the same time.
const LANES_LOG: u32 = 20;
/// Most lanes that may add at the same time: some times as many as the largest devices run.
const MOST_LANES: u32 = 1 << LANES_LOG;
/// Rounds that a group loses to others before it gives up.
const MOST_LOST: u32 = 4 * MOST_LANES;
/// Looks in a row at a word beyond the limit after which a group gives up.
const MOST_LOOKS: u32 = 512;
/// Most units of one lane that enter the sum of a warp of 64 lanes without wrapping, with room left.
const MOST_SUMMED: u32 = 1 << 25;

/// A word that moves forward from unit 0 to a limit. The memory that it is in goes along as an argument.
#[derive(Clone, Copy)]
pub(super) struct Frontier {
    /// The word: the next unit.
    pub word: usize,
    /// Number of units.
    pub limit: u32,
    /// What unit 0 is in the count that alignments are of.
    pub origin: u32,
}

/// What a lane asks for.
#[derive(Clone, Copy)]
pub(super) struct Request {
    /// Units, 1 to 3·2^30.
    pub count: u32,
    /// Alignment in units, a power of two, at most 2^16.
    pub align: u32,
}

/// What a lane got: the first of its units, or an error's code.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub first: u32,
    pub code: u32,
}

impl Request {
    /// Units with room to align within.
    #[inline(always)]
    pub fn with_slack(self) -> u32 {
        self.count + (self.align - 1)
    }
}

impl Frontier {
    /// Most units that so many lanes may add without a look.
    #[inline(always)]
    pub fn most_added(self, lanes: u32) -> u32 {
        ((u32::MAX - self.limit) >> LANES_LOG) * lanes
    }

    /// The first unit from `next` on that is aligned to `align`.
    #[inline(always)]
    pub fn aligned(self, next: u32, align: u32) -> u32 {
        ((next + self.origin + (align - 1)) & !(align - 1)) - self.origin
    }

    /// For one lane: adds without a look. The old value, or [`NONE`] if there is not as much behind it.
    #[inline(always)]
    pub fn add(self, words: Words, asked: u32) -> u32 {
        let base = words.fetch_add(self.word, asked);
        let beyond = base > self.limit;
        let short = !beyond & (asked > self.limit - least(base, self.limit));
        if short {
            // At once for all that added since: if each took its own addition back, somebody could be served
            // from what is left between two of them.
            words.store(self.word, base);
        }
        select(beyond | short, NONE, base)
    }

    /// Collective: adds the sum of what the lanes ask for, if it is little enough. Where the lane's part begins, not
    /// aligned yet; [`NONE`] in all lanes if it is too much or not there.
    #[inline(always)]
    pub fn add_all<const FULL: bool>(
        self,
        words: Words,
        group: Group<FULL>,
        request: Request,
    ) -> u32 {
        // Those that are cut off here are too much in any case.
        let sum = group_sum(group, least(request.with_slack(), MOST_SUMMED));
        let mut base = NONE;
        if group.leads() & (sum.total <= self.most_added(group.count())) {
            base = self.add(words, sum.total);
        }
        let base = group.broadcast(base);
        select(base == NONE, NONE, base.wrapping_add(sum.before))
    }

    /// Collective: serves the lanes that wait in rounds, in each of which the leader looks before it moves the
    /// word for those that fit.
    #[inline(always)]
    pub fn in_rounds(self, words: Words, group: Group, request: Request, waits: bool) -> Place {
        let lane = arch::lane();
        let mut place = Place {
            first: 0,
            code: AllocError::Contended.code(),
        };
        let mut waits = waits;
        let mut pending = group.ballot(waits);
        let mut lost = 0;
        let mut beyond = 0;
        // Every round serves a lane, or is one of those that are lost.
        while !pending.is_empty() & (lost < MOST_LOST) & (beyond < MOST_LOOKS) {
            let mut next = 0;
            if group.leads() {
                back_off(lost);
                next = words.load(self.word);
            }
            group.barrier();
            let seen = group.broadcast(next);
            // Beyond the limit it is about to be put back.
            let settled = seen <= self.limit;
            beyond = select(settled, 0, beyond + 1);
            let next = least(seen, self.limit);
            let start = self.aligned(next, request.align);
            let fits =
                (start <= self.limit) & (request.count <= self.limit - least(start, self.limit));
            let hopeless = waits & settled & !fits;
            place.code = select(hopeless, AllocError::Exhausted.code(), place.code);
            waits &= !hopeless;
            pending = group.ballot(waits);
            // The first of those that are left fits as it is, the others with what aligning may take. The sum is
            // of this one alone or of all whose sum does not wrap.
            let first = select(pending.is_empty(), group.leader(), pending.first());
            let slack = select(lane == first, start - next, request.align - 1);
            let need = request.count + slack;
            let small = need <= MOST_SUMMED;
            let alone = group.shuffle(small as u32, first) == 0;
            let counts = waits & ((lane == first) | (small & !alone));
            let sum = group_sum(group, select(counts, need, 0));
            let end = sum.before + select(counts, need, 0);
            let served = counts & settled & (end <= self.limit - next);
            // None comes after one that does not fit, so the last one's end is that of all.
            let chosen = group.ballot(served);
            let taken = group.shuffle(end, last_lane(chosen, group.leader()));
            let mut moved = 0;
            if group.leads() & !chosen.is_empty() {
                let old = words.compare_exchange(self.word, next, next + taken);
                moved = (old == next) as u32;
            }
            group.barrier();
            let moved = group.broadcast(moved) != 0;
            let served = served & moved;
            let mine = self.aligned(next + select(served, sum.before, 0), request.align);
            place.first = select(served, mine, place.first);
            place.code = select(served, 0, place.code);
            waits &= !served;
            pending = group.ballot(waits);
            lost += !moved as u32;
        }
        place
    }
}

/// Lets others go first, the longer the more rounds are lost, where the device can: a word that all want to
/// compare and swap at the same time moves once in the time that all of them take.
#[inline(always)]
fn back_off(lost: u32) {
    if lost != 0 {
        // Up to 16 µs, not the same for all.
        let most = (64 << least(lost, 8)) - 1;
        arch::pause(hash(thread::index() ^ lost << 20) & most);
    }
}

#[cfg(test)]
mod tests;
