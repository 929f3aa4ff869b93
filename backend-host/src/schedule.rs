//! The scheduler of explore mode: which lane runs next, decided by a seed and nothing else.
//!
//! Different bugs need different schedules, so the seed also chooses the kind. *Random* switches
//! often and to anyone, which breaks short races. *Priorities* runs the lane of the highest priority
//! and lowers priorities at few points far apart, which holds a lane back for long while all
//! others go on. *Stubborn* does so inside each warp, without any turn for the lanes that are held
//! back: a lane that waits for another one of its own warp waits forever, as it may on a device.
//! Between warps every kind is fair.

use std::cell::{Cell, RefCell};

/// Lanes that a seat has room for.
const SEAT: usize = 64;

/// Changes of priority that a stubborn schedule makes in a warp are fewer than this. Afterwards the
/// lane of the highest priority keeps it for good.
const STUBBORN_CHANGES: u32 = 8;

/// A small generator of pseudo-random numbers. Ours, so that a seed means the same for ever.
#[derive(Debug)]
pub(crate) struct Random(Cell<u64>);

impl Random {
    pub(crate) fn new(seed: u64, launch: u64) -> Self {
        let random = Random(Cell::new(seed));
        // Launches of a seed differ, and neighbouring seeds have nothing in common.
        random
            .0
            .set(random.next() ^ launch.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    /// Any 64 bits: a counter with a large odd step, its bits mixed.
    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ (mixed >> 32)
    }

    /// A number less than `bound`, which is not 0.
    pub(crate) fn below(&self, bound: u32) -> u32 {
        (((self.next() >> 32) * bound as u64) >> 32) as u32
    }

    /// True once in `of` times.
    fn once_in(&self, of: u32) -> bool {
        self.below(of) == 0
    }

    /// A number from 1 to 2 to the power of `bits`, small ones as often as large ones: what a lane
    /// must not be interrupted in may be short, and what happens meanwhile may be long.
    fn gap(&self, bits: u32) -> u32 {
        1 + self.below(1 << self.below(bits + 1))
    }

    /// One of the lanes of a set that is not empty.
    fn lane(&self, set: u64) -> u32 {
        let mut left = set;
        for _ in 0..self.below(set.count_ones()) {
            left &= left - 1;
        }
        left.trailing_zeros()
    }
}

/// The kind of schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A lane is left for any other one once in so many steps.
    Random(u32),
    /// The lane of the highest priority runs, of all warps.
    Priorities,
    /// The lane of the highest priority of its warp runs; its warp is left once in so many steps.
    Stubborn(u32),
}

/// How lanes come together at `active`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gather {
    /// Those that are there go on when no lane of the warp can run.
    Whole,
    /// Some of those that are there go on at any time.
    Parts,
    /// Each goes on alone.
    Alone,
}

/// What the lanes of the warp in a seat can do. Both sets are empty when the seat is, or when all of
/// them wait for their block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seat {
    /// They can run.
    pub runnable: u64,
    /// They wait at `active` and may be released.
    pub at_active: u64,
}

/// Decides which lane runs.
#[derive(Debug)]
pub(crate) struct Scheduler {
    random: Random,
    kind: Kind,
    gather: Gather,
    /// Up to 2 to this power steps lie between two changes of priority.
    gap_bits: u32,
    until_change: Cell<u32>,
    /// By seat: changes of priority that a stubborn schedule still makes in this warp.
    changes_left: RefCell<Vec<u32>>,
    /// By seat and lane; higher runs first.
    priorities: RefCell<Vec<i64>>,
    /// Lower than every priority.
    lowest: Cell<i64>,
    steps: Cell<u64>,
    max_steps: u64,
}

impl Scheduler {
    /// The scheduler of launch number `launch` under `seed`, for so many seats. It gives up after
    /// `max_steps` steps in which no lane ends.
    pub(crate) fn new(seed: u64, launch: u64, seats: usize, max_steps: u64) -> Self {
        let random = Random::new(seed, launch);
        let kind = match random.below(5) {
            0 => Kind::Random(1),
            1 => Kind::Random(4 << random.below(5)),
            2 | 3 => Kind::Priorities,
            _ => Kind::Stubborn(1 << random.below(6)),
        };
        let gather = match random.below(4) {
            0 => Gather::Whole,
            1 => Gather::Alone,
            _ => Gather::Parts,
        };
        // With a change at every step all lanes take turns, as in lock-step.
        let gap_bits = random.below(12).min(random.below(12));
        Scheduler {
            kind,
            gather,
            until_change: Cell::new(random.gap(gap_bits)),
            gap_bits,
            changes_left: RefCell::new(vec![0; seats]),
            priorities: RefCell::new(vec![0; seats * SEAT]),
            lowest: Cell::new(0),
            steps: Cell::new(0),
            max_steps,
            random,
        }
    }

    /// One more seat.
    pub(crate) fn add_seat(&self) {
        self.changes_left.borrow_mut().push(0);
        let mut priorities = self.priorities.borrow_mut();
        let room = priorities.len() + SEAT;
        priorities.resize(room, 0);
    }

    /// A warp takes the seat: its lanes get priorities.
    pub(crate) fn seated(&self, seat: usize) {
        self.changes_left.borrow_mut()[seat] = self.random.below(STUBBORN_CHANGES);
        let mut priorities = self.priorities.borrow_mut();
        for priority in &mut priorities[seat * SEAT..][..SEAT] {
            *priority = (self.random.next() >> 1) as i64;
        }
    }

    /// Whether the lane that runs may go on now. If not, it is to suspend itself.
    pub(crate) fn stays(&self, seat: usize, lane: u32) -> bool {
        self.step();
        if self.gave_up() {
            return false;
        }
        match self.kind {
            Kind::Random(of) => !self.random.once_in(of),
            // Changes come for ever, so no lane keeps others from running for good.
            Kind::Priorities => {
                let changes = self.changes();
                if changes {
                    self.lower(seat, lane);
                }
                !changes
            }
            Kind::Stubborn(of) => {
                if self.changes() && self.spends(seat) {
                    self.lower(seat, lane);
                    return false;
                }
                !self.random.once_in(of)
            }
        }
    }

    /// Notes that a lane has come to its end.
    pub(crate) fn lane_ended(&self) {
        self.steps.set(0);
    }

    /// Whether too many steps have gone by without any lane coming to its end.
    pub(crate) fn gave_up(&self) -> bool {
        self.steps.get() > self.max_steps
    }

    /// How many steps that are.
    pub(crate) fn max_steps(&self) -> u64 {
        self.max_steps
    }

    /// Chooses seat and lane to go on; `None` if no lane can. The lane can run or waits
    /// at `active`; then it is to be released first, see [`part`](Self::part).
    pub(crate) fn next(&self, seats: &[Seat]) -> Option<(usize, u32)> {
        self.step();
        if self.kind == Kind::Priorities {
            return self.highest(seats, 0..seats.len());
        }
        let can_go = |seat: &Seat| seat.runnable | seat.at_active != 0;
        let mut at = self.random.below(seats.len() as u32) as usize;
        // Seats empty only at the end of a launch, and few wait for long: the search is short.
        let offset = (0..seats.len()).find(|offset| can_go(&seats[(at + offset) % seats.len()]))?;
        at = (at + offset) % seats.len();
        match self.kind {
            Kind::Random(_) => Some((at, self.random.lane(self.candidates(seats[at])))),
            _ => self.highest(seats, at..at + 1),
        }
    }

    /// Of the lanes that wait at the same `active` as `lane`, those that go on with it.
    pub(crate) fn part(&self, group: u64, lane: u32) -> u64 {
        let own = 1 << lane;
        match self.gather {
            Gather::Whole => group,
            Gather::Alone => own,
            Gather::Parts => match self.random.below(3) {
                0 => group,
                1 => own | group & self.random.next(),
                _ => own,
            },
        }
    }

    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// Whether priorities change now.
    fn changes(&self) -> bool {
        let left = self.until_change.get() - 1;
        let now = left == 0;
        self.until_change.set(match now {
            true => self.random.gap(self.gap_bits),
            false => left,
        });
        now
    }

    /// Takes one of the changes that are left to the warp in a seat; whether there was one.
    fn spends(&self, seat: usize) -> bool {
        let left = &mut self.changes_left.borrow_mut()[seat];
        let some = *left != 0;
        *left -= some as u32;
        some
    }

    /// Gives a lane the lowest of all priorities.
    fn lower(&self, seat: usize, lane: u32) {
        let lowest = self.lowest.get() - 1;
        self.lowest.set(lowest);
        self.priorities.borrow_mut()[seat * SEAT + lane as usize] = lowest;
    }

    fn candidates(&self, seat: Seat) -> u64 {
        if self.gather == Gather::Whole && seat.runnable != 0 {
            seat.runnable
        } else {
            seat.runnable | seat.at_active
        }
    }

    fn highest(&self, seats: &[Seat], range: std::ops::Range<usize>) -> Option<(usize, u32)> {
        let priorities = self.priorities.borrow();
        let mut best = None;
        for at in range {
            let mut left = self.candidates(seats[at]);
            while left != 0 {
                let lane = left.trailing_zeros();
                left &= left - 1;
                let priority = priorities[at * SEAT + lane as usize];
                if best.is_none_or(|(most, _)| priority > most) {
                    best = Some((priority, (at, lane)));
                }
            }
        }
        best.map(|(_, choice)| choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_seeds_have_every_kind_of_schedule() {
        let kinds = |seed| {
            let scheduler = Scheduler::new(seed, 0, 1, 1);
            let kind = match scheduler.kind {
                Kind::Random(1) => 0,
                Kind::Random(_) => 1,
                Kind::Priorities => 2,
                Kind::Stubborn(_) => 3,
            };
            (kind, scheduler.gather as u32)
        };
        let seen: std::collections::HashSet<_> = (0..100).map(kinds).collect();
        assert_eq!(seen.len(), 4 * 3);
    }

    #[test]
    fn chosen_lanes_can_go_and_all_of_them_are_chosen() {
        let seats = [
            Seat {
                runnable: 0b1010,
                at_active: 0b0100,
            },
            Seat::default(),
            Seat {
                runnable: 0,
                at_active: 1 << 63,
            },
        ];
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let scheduler = Scheduler::new(seed, 0, 3, 1);
            (0..3).for_each(|seat| scheduler.seated(seat));
            for _ in 0..10 {
                seen.insert(scheduler.next(&seats));
            }
        }
        let can_go = [(0, 1), (0, 2), (0, 3), (2, 63)].map(Some);
        assert_eq!(seen, can_go.into());
        let scheduler = Scheduler::new(1, 0, 2, 1);
        assert_eq!(scheduler.next(&[Seat::default(); 2]), None);
    }

    #[test]
    fn groups_are_released_whole_in_part_and_alone() {
        let (group, mut sizes) = (0xff00, std::collections::BTreeSet::new());
        for seed in 0..100 {
            let scheduler = Scheduler::new(seed, 0, 1, 1);
            let part = scheduler.part(group, 9);
            assert_eq!((part & !group, part >> 9 & 1), (0, 1));
            sizes.insert(part.count_ones());
        }
        assert!(
            sizes.len() > 4 && sizes.contains(&1) && sizes.contains(&8),
            "{sizes:?}"
        );
    }

    #[test]
    fn numbers_are_in_range_and_spread() {
        let random = Random::new(0, 0);
        let mut counts = [0; 7];
        for _ in 0..7000 {
            counts[random.below(7) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (800..1200).contains(count)),
            "{counts:?}"
        );
        let set = 1 << 63 | 1 << 5 | 1;
        let lanes: std::collections::BTreeSet<_> = (0..100).map(|_| random.lane(set)).collect();
        assert_eq!(lanes, [0, 5, 63].into());
    }
}
