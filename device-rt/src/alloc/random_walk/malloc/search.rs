//! Free units side by side (Algorithm 4): all lanes of a warp look at words of a region side by side.

use super::geometry::part_of_run;
use super::{NONE, RandomWalkMalloc};
use crate::arch;
use crate::bits::{nth_lane, starts_of};
use crate::sync::{Group, last_lane};
use warpheap_api::{HeapMemory, LaneMask, least, select};

/// What a team asks for.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Units of each of its runs.
    pub(super) units: u32,
    /// Alignment in units.
    pub(super) align: u32,
}

/// What came of a search.
#[derive(Clone, Copy)]
pub(super) struct Outcome {
    /// The first unit of the calling lane's run, or [`NONE`].
    pub(super) unit: u32,
    /// Lanes that have no run.
    pub(super) pending: LaneMask,
    /// Somebody was faster where a run had been seen.
    pub(super) doubt: bool,
}

/// Free units as a lane sees them.
#[derive(Clone, Copy)]
struct Seen {
    /// Those of its word.
    free: u32,
    /// How many lie side by side directly before the word, in words that were looked at.
    before: u32,
}

impl RandomWalkMalloc {
    /// Collective: runs for the lanes of `outcome.pending` in `count` words of the map from `first` on, as
    /// many as are found.
    #[inline(always)]
    pub(super) fn search(
        self,
        group: Group,
        outcome: Outcome,
        wanted: Wanted,
        first: u32,
        count: u32,
    ) -> Outcome {
        let lane = arch::lane();
        let rank = group.rank();
        let last = group.lanes().last();
        let mut outcome = outcome;
        // Free units directly before the words that are looked at.
        let mut carried = 0;
        let mut done = 0;
        while !outcome.pending.is_empty() & (done < count) {
            let at = done + rank;
            let word = first + select(at < count, at, 0);
            let taken = self.words.load(self.geometry.map(word));
            let free = select(at < count, !taken, 0);
            let seen = see(group, rank, free, carried);
            let start = self.start_of_run(word, seen, wanted);
            let pending = outcome.pending;
            let fits = group.ballot(start != NONE);
            // Short runs are claimed by the lanes that see them, a long one by all.
            let long = wanted.units > 32;
            let most = select(long, 1, pending.count());
            let tries = (start != NONE) & (fits.rank(lane) < most);
            let mut unit = NONE;
            if long & !fits.is_empty() {
                let first = group.shuffle(start, fits.first());
                let claimed = self.claim_together(group, first, wanted.units);
                unit = select(tries & claimed, first, NONE);
            }
            if tries & !long {
                unit = select(self.claim_alone(start, wanted.units), start, NONE);
            }
            group.barrier();
            let givers = group.ballot(unit != NONE);
            outcome.doubt |= group.any(tries & (unit == NONE));
            let place = pending.rank(lane);
            let served = pending.contains(lane) & (place < givers.count());
            let giver = nth_lane(givers, select(served, place, 0)) & 63;
            let given = group.shuffle(unit, select(served, giver, lane));
            outcome.unit = select(served, given, outcome.unit);
            outcome.pending = group.ballot(pending.contains(lane) & !served);
            // What a run took of the units before, they have no more.
            let border = (first + done) << 5;
            let end = unit.wrapping_add(wanted.units);
            let crosses = group.ballot((unit != NONE) & (unit < border));
            let rest = group.shuffle(
                border - least(border, end),
                select(crosses.is_empty(), lane, crosses.first()),
            );
            let here = select(crosses.is_empty(), carried, rest);
            // Who found something looks there again: every round serves somebody or moves on.
            let behind = seen.free.leading_ones() + select(free == u32::MAX, seen.before, 0);
            let behind = group.shuffle(behind, last);
            let moves = givers.is_empty();
            carried = select(moves, behind, here);
            done += select(moves, group.count(), 0);
        }
        outcome
    }

    /// Where a run begins that ends in this word, or lies in it.
    #[inline(always)]
    fn start_of_run(self, word: u32, seen: Seen, wanted: Wanted) -> u32 {
        let places = self.geometry.aligned_places(word, wanted.align);
        let starts = starts_of(seen.free, least(wanted.units, 32)) & places;
        let inside = (wanted.units <= 32) & (starts != 0);
        let here = (word << 5) + (starts.trailing_zeros() & 31);
        // In lanes that do not look, it counts what is not there.
        let begin = (word << 5) - least(seen.before, word << 5);
        let begin = begin + self.geometry.to_aligned(begin, wanted.align);
        // A run that ends before this word is one of the words before.
        let here_too = seen.free.trailing_ones();
        let across = (here_too != 0) & (begin + wanted.units <= (word << 5) + here_too);
        select(inside, here, select(across, begin, NONE))
    }

    /// Claims a run of up to 32 units, all or none.
    #[inline(always)]
    fn claim_alone(self, start: u32, units: u32) -> bool {
        let word = start >> 5;
        let (low, high) = (
            part_of_run(word, start, units),
            part_of_run(word + 1, start, units),
        );
        let got = low & !self.words.fetch_or(self.geometry.map(word), low);
        let mut good = got == low;
        if good & (high != 0) {
            let more = high & !self.words.fetch_or(self.geometry.map(word + 1), high);
            good = more == high;
            if !good & (more != 0) {
                self.words.fetch_and(self.geometry.map(word + 1), !more);
            }
        }
        if !good & (got != 0) {
            self.words.fetch_and(self.geometry.map(word), !got);
        }
        good
    }

    /// Collective: claims a run, all or none, all lanes together.
    #[inline(always)]
    pub(super) fn claim_together(self, group: Group, start: u32, units: u32) -> bool {
        let rank = group.rank();
        let first = start >> 5;
        let words = ((start + units - 1) >> 5) - first + 1;
        let mut at = rank;
        let mut good = true;
        while good & (at < words) {
            let word = self.geometry.map(first + at);
            let part = part_of_run(first + at, start, units);
            let got = part & !self.words.fetch_or(word, part);
            good = got == part;
            if !good & (got != 0) {
                self.words.fetch_and(word, !got);
            }
            at += select(good, group.count(), 0);
        }
        group.barrier();
        let all = group.all(good);
        while !all & (at > rank) {
            at -= group.count();
            let part = part_of_run(first + at, start, units);
            self.words.fetch_and(self.geometry.map(first + at), !part);
        }
        group.barrier();
        all
    }
}

/// Collective: what each lane sees, in words that lie side by side in the order of lanes.
#[inline(always)]
fn see(group: Group, rank: u32, free: u32, carried: u32) -> Seen {
    let lane = arch::lane();
    // The last word before this one that is not free as a whole.
    let stops = group.ballot(free != u32::MAX);
    let stops = stops.and(LaneMask::below(lane));
    let stop = last_lane(stops, lane);
    let tail = group.shuffle(free.leading_ones(), stop);
    let whole = rank.wrapping_sub(group.lanes().rank(stop)).wrapping_sub(1);
    Seen {
        free,
        // Of the two only the one that is chosen need make sense.
        before: select(
            stops.is_empty(),
            carried.wrapping_add(rank * 32),
            tail.wrapping_add(whole.wrapping_mul(32)),
        ),
    }
}
