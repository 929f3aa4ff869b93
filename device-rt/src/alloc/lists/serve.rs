//! A warp's requests: teams of lanes that ask for the same, in rounds.

use super::geometry::LEFT_WORD;
use super::{Ask, FEW, Row, SegmentLists};
use crate::arch::{self, Group};
use crate::sync::{Claimed, Requests, Team, Turn, in_rounds};
use warpheap_api::{AllocError, HeapMemory, least, select};

/// Rounds of a team that found nothing while others had lists in their hands. A list is in one hand at a time for
/// some microseconds, and all warps of a device may want the same one: this is some 20 ms. With a set of lists for each
/// multiprocessor fewer warps want the same one, and a round looks at all the sets.
const ROUNDS: [u32; 2] = [1 << 10, 1 << 6];
/// The binary logarithm of the looks of the longest pause.
const LONGEST_PAUSE: u32 = 7;
/// In place of an error's code: another round.
const AGAIN: u32 = 0;
/// Where a lane has no block.
const NO_UNIT: u32 = u32::MAX;

/// The first search: the lists of the lane's own set, and a short look at each. A round serves a lane of each
/// team that searches, or ends its search.
struct Nearby {
    ask: Ask,
    unit: u32,
}

/// The search for what is left: everywhere. A round serves a lane of each team that waits, or fails the whole
/// team, or is one of [`ROUNDS`] in which others had lists in their hands.
struct Everywhere {
    ask: Ask,
    unit: u32,
    /// An error's code.
    code: u32,
    /// Of a team's leader: rounds that found nothing.
    round: u32,
}

impl Row {
    /// What the leader claimed.
    #[inline(always)]
    fn claimed(self, code: u32) -> Claimed {
        Claimed {
            base: self.first,
            share: self.count,
            code,
        }
    }
}

impl<const PER_PROCESSOR: bool> Requests<SegmentLists<PER_PROCESSOR>, false> for Nearby {
    #[inline(always)]
    fn claim(&mut self, heap: SegmentLists<PER_PROCESSOR>, wanted: u32) -> Claimed {
        let mut busy = false;
        let row = heap.search(self.ask, wanted, FEW, false, &mut busy);
        row.claimed(AGAIN)
    }

    #[inline(always)]
    fn accept(&mut self, heap: SegmentLists<PER_PROCESSOR>, turn: Turn, claimed: Claimed) -> bool {
        self.unit = heap.place_of(turn, claimed, self.ask, self.unit);
        // The leader does not search for others once it has found nothing.
        (self.unit == NO_UNIT) & (claimed.share != 0)
    }
}

impl<const PER_PROCESSOR: bool> Requests<SegmentLists<PER_PROCESSOR>, false> for Everywhere {
    #[inline(always)]
    fn claim(&mut self, heap: SegmentLists<PER_PROCESSOR>, wanted: u32) -> Claimed {
        let mut busy = false;
        let row = heap.take_anywhere(self.ask, wanted, self.round, &mut busy);
        let mut cause = AGAIN;
        if row.count == 0 {
            self.round += 1;
            let late = select(
                self.round < ROUNDS[PER_PROCESSOR as usize],
                AGAIN,
                AllocError::Contended.code(),
            );
            cause = select(busy, late, AllocError::Exhausted.code());
            if cause == AGAIN {
                heap.pause(self.round);
            }
        }
        row.claimed(cause)
    }

    #[inline(always)]
    fn accept(&mut self, heap: SegmentLists<PER_PROCESSOR>, turn: Turn, claimed: Claimed) -> bool {
        self.unit = heap.place_of(turn, claimed, self.ask, self.unit);
        let failed = claimed.code != AGAIN;
        self.code = select(turn.waits & failed, claimed.code, self.code);
        (self.unit == NO_UNIT) & !failed
    }
}

impl<const PER_PROCESSOR: bool> SegmentLists<PER_PROCESSOR> {
    /// The calling lane's block of a row that its team got; `unit` if it has none.
    #[inline(always)]
    fn place_of(self, turn: Turn, row: Claimed, ask: Ask, unit: u32) -> u32 {
        let mut unit = unit;
        if turn.waits & (turn.rank < row.share) {
            unit = row.base + turn.rank * ask.size;
            self.take_place(unit, ask.size, turn.rank);
        }
        unit
    }

    /// Lets the others go on: looks at a word that is in the near cache, the more often the later the round.
    #[inline(always)]
    fn pause(self, round: u32) {
        let mut left = 1 << least(round, LONGEST_PAUSE);
        while left > 0 {
            self.words.glance(LEFT_WORD);
            left -= 1;
        }
    }

    /// Collective: serves the lanes whose request is `possible`. Each gets a unit, or an error's code.
    #[inline(always)]
    pub(super) fn serve(self, group: Group, ask: Ask, possible: bool) -> (u32, u32) {
        // Lanes that ask for the same search as one; very large requests stay by themselves.
        let key = ask.align.trailing_zeros() << 20 | ask.size;
        let shares = possible & (ask.size < 1 << 20);
        let key = select(shares, key, 1 << 31 | arch::lane());
        let team = Team::by_key(group, key);
        let mut nearby = Nearby { ask, unit: NO_UNIT };
        in_rounds(team, possible, self, &mut nearby);
        let (mut unit, mut code) = (nearby.unit, 0);
        if group.any(possible & (unit == NO_UNIT)) {
            unit = self.top_together(group, ask, possible & (unit == NO_UNIT), unit);
            let mut everywhere = Everywhere {
                ask,
                unit,
                code,
                round: 0,
            };
            in_rounds(team, possible & (unit == NO_UNIT), self, &mut everywhere);
            (unit, code) = (everywhere.unit, everywhere.code);
        }
        (unit, code)
    }
}
