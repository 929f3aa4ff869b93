//! How the requests of a warp are served: in rounds, in each of which the leader of every team claims for its
//! members and the members share what it got.

use super::Team;
use crate::arch;

/// What a leader claimed for its team in a round. What the words mean is between
/// [`claim`](Requests::claim) and [`accept`](Requests::accept).
#[derive(Clone, Copy)]
pub struct Claimed {
    /// Where: a granule, say.
    pub base: u32,
    /// How many, or which of 32.
    pub share: u32,
    /// Why there is nothing, or of what kind it is.
    pub code: u32,
}

impl Claimed {
    /// Nothing.
    pub const NOTHING: Claimed = Claimed {
        base: 0,
        share: 0,
        code: 0,
    };
}

/// A lane's part in a round.
#[derive(Clone, Copy)]
pub struct Turn<const FULL: bool = false> {
    /// The members of the lane's team that waited when the round began, with the team's leader.
    pub team: Team<FULL>,
    /// Whether the lane is one of them.
    pub waits: bool,
    /// How many of them are before it.
    pub rank: u32,
}

/// The requests of a group's teams. Each lane has a value of its own.
///
/// The heap goes along by value, since a handle that a loop changes is a shape that not all device compilers
/// take.
pub trait Requests<H: Copy, const FULL: bool> {
    /// The leader's part: claims for `wanted` members of its team. Called by leaders of teams with members that
    /// wait, and with zero members by those that are [ahead](Self::is_ahead).
    fn claim(&mut self, heap: H, wanted: u32) -> Claimed;

    /// Every lane's part, collective over the group: takes its share of what the leader of its team
    /// claimed. Whether it goes on waiting; the answer of lanes that do not wait is ignored.
    fn accept(&mut self, heap: H, turn: Turn<FULL>, claimed: Claimed) -> bool;

    /// Whether the lane, a leader, wants a round though none of its team waits.
    #[inline(always)]
    fn is_ahead(&self) -> bool {
        false
    }
    /// Whether any lane ever does.
    const MAY_BE_AHEAD: bool = false;
}

/// Collective over the group of `team`: serves the lanes that `wait`, in rounds. It ends when none waits any
/// more: a round has to serve lanes of a team, to fail them, or to be one of a bounded number.
#[inline(always)]
#[track_caller]
pub fn in_rounds<H: Copy, R: Requests<H, FULL>, const FULL: bool>(
    team: Team<FULL>,
    waits: bool,
    heap: H,
    requests: &mut R,
) {
    let group = team.group();
    let mut pending = group.ballot(waits);
    let mut busy = pending;
    while !busy.is_empty() {
        let mine = team.among(pending);
        let mut claimed = Claimed::NOTHING;
        if team.leads() & (!mine.is_empty() | (R::MAY_BE_AHEAD & requests.is_ahead())) {
            claimed = requests.claim(heap, mine.count());
        }
        // The lanes parted; together again they shuffle faster.
        group.barrier();
        let claimed = Claimed {
            base: mine.broadcast(claimed.base),
            share: mine.broadcast(claimed.share),
            code: mine.broadcast(claimed.code),
        };
        let turn = Turn {
            team: mine,
            waits: pending.contains(arch::lane()),
            rank: mine.rank(),
        };
        let goes_on = requests.accept(heap, turn, claimed);
        pending = group.ballot(turn.waits & goes_on);
        busy = pending;
        if R::MAY_BE_AHEAD {
            busy = pending.or(group.ballot(requests.is_ahead()));
        }
    }
}
