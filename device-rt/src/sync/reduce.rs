//! Sums and unions over a set of lanes, in a logarithmic number of shuffles.

use crate::arch;
use warpheap_api::{LaneMask, select};

/// What a lane knows after [`prefix_sum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixSum {
    /// Sum over the lanes of the set before this one.
    pub before: u32,
    /// Sum over all lanes of the set.
    pub total: u32,
}

/// Sums `value` (wrapping) over the lanes of `lanes`, which all take part.
#[inline(always)]
pub fn prefix_sum(lanes: LaneMask, value: u32) -> PrefixSum {
    team_sum(lanes, lanes, value)
}

/// Sums `value` (wrapping) over the lanes of `team`. Each lane of `lanes` takes part with the team that it
/// belongs to; teams do not overlap.
#[inline(always)]
pub fn team_sum(lanes: LaneMask, team: LaneMask, value: u32) -> PrefixSum {
    let lane = arch::lane();
    let mut sum = value;
    // The set may have gaps: each lane looks back through a chain of lanes that doubles its reach.
    let below = team.and(LaneMask::below(lane));
    let mut back = last_lane(below, lane);
    let mut reach = 1;
    while reach < lanes.count() {
        let other = arch::shuffle(lanes, sum, back);
        let further = arch::shuffle(lanes, back, back);
        sum = sum.wrapping_add(select(back != lane, other, 0));
        // A chain that ended at its first lane stays there and adds nothing more.
        back = select(further == back, lane, further);
        reach *= 2;
    }
    let total = arch::shuffle(lanes, sum, last_lane(team, lane));
    PrefixSum {
        before: sum.wrapping_sub(value),
        total,
    }
}

/// Union of `value` over the lanes of `team`. Each lane of `lanes` takes part with the team that it
/// belongs to; teams do not overlap. The first lane of a team gets the union, the others some
/// part of it.
#[inline(always)]
pub fn or_to_first(lanes: LaneMask, team: LaneMask, value: u32) -> u32 {
    let lane = arch::lane();
    let mut union = value;
    let after = team.after(lane);
    let mut next = select(after.is_empty(), lane, after.first());
    let mut reach = 1;
    while reach < lanes.count() {
        let other = arch::shuffle(lanes, union, next);
        let further = arch::shuffle(lanes, next, next);
        // At the end of the chain a lane takes its own value again, which changes nothing.
        union |= other;
        next = further;
        reach *= 2;
    }
    union
}

/// The last lane of `lanes`, or `otherwise` if there is none.
#[inline(always)]
pub fn last_lane(lanes: LaneMask, otherwise: u32) -> u32 {
    let low = select(
        lanes.lo != 0,
        31u32.wrapping_sub(lanes.lo.leading_zeros()),
        otherwise,
    );
    select(
        lanes.hi != 0,
        63u32.wrapping_sub(lanes.hi.leading_zeros()),
        low,
    )
}
