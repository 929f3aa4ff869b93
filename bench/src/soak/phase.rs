//! The phases of a cycle.

use super::plan::Aim;
use super::sizes::Law;
use std::fmt;

/// A phase of a cycle. Each ends when what it is for is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Up to the share of the heap that was asked for.
    Fill,
    /// Blocks come, go, and get other sizes, at this share.
    Churn,
    /// A few blocks stay.
    Drain,
    /// Until nearly all requests fail.
    Full,
    /// Blocks come and go in a full heap.
    Hold,
    /// All blocks go.
    Empty,
}

/// How much there is, and how much there should be, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Bytes of the heap that can be handed out.
    pub room: u64,
    /// Bytes that are to be handed out.
    pub goal: u64,
    /// Bytes of blocks that are there.
    pub live: u64,
    /// Blocks that are there.
    pub blocks: u64,
    /// Numbers that are no block.
    pub free: u64,
}

/// What came of a round, with what it began with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// Rounds of the phase so far.
    pub rounds: u32,
    /// Requests.
    pub requests: u32,
    /// Requests that failed.
    pub failed: u32,
}

impl Phase {
    /// In their order.
    pub const ALL: [Phase; 6] = [
        Phase::Fill,
        Phase::Churn,
        Phase::Drain,
        Phase::Full,
        Phase::Hold,
        Phase::Empty,
    ];

    /// The one that follows; none behind the last.
    pub fn next(self) -> Option<Phase> {
        let at = Phase::ALL.iter().position(|one| *one == self)?;
        Phase::ALL.get(at + 1).copied()
    }

    /// What a launch does in a phase of a cycle, one of so many at the same time.
    pub(super) fn aim(self, cycle: u64, level: Level, launches: u64) -> Aim {
        let Level {
            room, goal, live, ..
        } = level;
        let left = goal.saturating_sub(live);
        let aim = |mallocs, frees, resizes, budget: u64| Aim {
            mallocs,
            frees,
            resizes,
            tries: false,
            budget: budget / launches.max(1),
            law: Law::Mixed,
            long: false,
        };
        match self {
            // Not so much at a time that nothing can be said of a request that fails.
            Phase::Fill => aim(12, 1, 2, left.min(room / 16)),
            Phase::Churn if left > 0 => aim(5, 3, 2, left + goal / 16),
            Phase::Churn => aim(3, 5, 2, goal / 16),
            Phase::Drain | Phase::Empty => Aim {
                long: true,
                ..aim(0, 1, 0, 0)
            },
            Phase::Full => Aim {
                tries: true,
                law: Law::ALL[(cycle % Law::ALL.len() as u64) as usize],
                ..aim(8, 0, 1, room)
            },
            Phase::Hold => Aim {
                tries: true,
                ..aim(4, 4, 2, room)
            },
        }
    }

    /// Whether it ends with a round.
    pub(super) fn ends(self, level: Level, round: Round) -> bool {
        let Level {
            goal,
            live,
            blocks,
            free,
            ..
        } = level;
        let Round {
            rounds,
            requests,
            failed,
        } = round;
        match self {
            Phase::Fill => {
                let there = live + goal / 16 >= goal;
                there || failed > requests / 2 || free == 0 || rounds >= 128
            }
            Phase::Churn => rounds >= 24,
            Phase::Drain => live <= goal / 32 || blocks == 0,
            Phase::Full => failed >= requests - requests / 8 || free == 0 || rounds >= 64,
            Phase::Hold => rounds >= 8,
            Phase::Empty => blocks == 0,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Fill => "fill",
            Phase::Churn => "churn",
            Phase::Drain => "drain",
            Phase::Full => "full",
            Phase::Hold => "hold",
            Phase::Empty => "empty",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: Level = Level {
        room: 1000,
        goal: 800,
        live: 400,
        blocks: 10,
        free: 10,
    };

    #[test]
    fn phases_follow_each_other() {
        let mut phase = Some(Phase::Fill);
        for expected in Phase::ALL {
            assert_eq!(phase, Some(expected));
            phase = expected.next();
        }
        assert_eq!(phase, None);
    }

    #[test]
    fn a_phase_ends_when_what_it_is_for_is_done() {
        let round = |requests, failed| Round {
            rounds: 1,
            requests,
            failed,
        };
        let with = |live, blocks, free| Level {
            live,
            blocks,
            free,
            ..LEVEL
        };
        for (phase, level, round, ends) in [
            (Phase::Fill, LEVEL, round(100, 0), false),
            (Phase::Fill, with(760, 10, 10), round(100, 0), true),
            (Phase::Fill, LEVEL, round(100, 51), true),
            (Phase::Fill, with(400, 10, 0), round(100, 0), true),
            (Phase::Drain, LEVEL, round(0, 0), false),
            (Phase::Drain, with(25, 2, 18), round(0, 0), true),
            (Phase::Full, LEVEL, round(100, 80), false),
            (Phase::Full, LEVEL, round(100, 88), true),
            (Phase::Full, LEVEL, round(0, 0), true),
            (Phase::Empty, with(0, 1, 19), round(0, 0), false),
            (Phase::Empty, with(0, 0, 20), round(0, 0), true),
        ] {
            assert_eq!(phase.ends(level, round), ends, "{phase}: {level:?}");
        }
    }

    #[test]
    fn launches_share_what_may_be_asked_for() {
        assert_eq!(Phase::Churn.aim(0, LEVEL, 1).budget, 450);
        assert_eq!(Phase::Churn.aim(0, LEVEL, 2).budget, 225);
        assert_eq!(Phase::Fill.aim(0, LEVEL, 1).budget, 62);
        assert_eq!(Phase::Empty.aim(0, LEVEL, 2).mallocs, 0);
        let laws = [0, 1, 2, 3].map(|cycle| Phase::Full.aim(cycle, LEVEL, 1).law);
        assert_eq!(laws, [Law::Small, Law::Mixed, Law::Large, Law::Small]);
    }
}
