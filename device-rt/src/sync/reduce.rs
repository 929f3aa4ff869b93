//! Sums and unions over lanes of a group, in a logarithmic number of shuffles.

use crate::arch::{self, Group};
use warpheap_api::{LaneMask, select};

/// What a lane knows after a sum over the lanes of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixSum {
    /// Sum over the lanes of the set before this one.
    pub before: u32,
    /// Sum over all lanes of the set.
    pub total: u32,
}

/// Collective: sums `value` (wrapping) over the lanes of the group.
#[inline(always)]
pub fn group_sum<const FULL: bool>(group: Group<FULL>, value: u32) -> PrefixSum {
    if !FULL {
        return sum_of(group, group.lanes(), value);
    }
    // No gaps: the lane to look back to is known.
    let lane = arch::lane();
    let mut sum = value;
    let mut reach = 1;
    while reach < arch::warp_width() {
        let before = group.shuffle(sum, lane - select(lane >= reach, reach, 0));
        sum = sum.wrapping_add(select(lane >= reach, before, 0));
        reach *= 2;
    }
    PrefixSum {
        before: sum.wrapping_sub(value),
        total: group.broadcast(sum),
    }
}

/// Sums `value` (wrapping) over `members`. Each lane of the group takes part with the set that it belongs
/// to; sets do not overlap.
#[inline(always)]
pub(super) fn sum_of<const FULL: bool>(
    group: Group<FULL>,
    members: LaneMask,
    value: u32,
) -> PrefixSum {
    let lane = arch::lane();
    let most = group.count();
    let mut sum = value;
    // The set may have gaps: each lane looks back through a chain of lanes that doubles its reach.
    let below = members.and(LaneMask::below(lane));
    let mut back = last_lane(below, lane);
    let mut reach = 1;
    while reach < most {
        let other = group.shuffle(sum, back);
        let further = group.shuffle(back, back);
        sum = sum.wrapping_add(select(back != lane, other, 0));
        // A chain that ended at its first lane stays there and adds nothing more.
        back = select(further == back, lane, further);
        reach *= 2;
    }
    let total = group.shuffle(sum, last_lane(members, lane));
    PrefixSum {
        before: sum.wrapping_sub(value),
        total,
    }
}

/// Union of `value` over `members`. Each lane of the group takes part with the set that it belongs to; sets
/// do not overlap. The last lane of a set gets the union, the others some part of it.
#[inline(always)]
pub(super) fn union_of<const FULL: bool>(group: Group<FULL>, members: LaneMask, value: u32) -> u32 {
    let lane = arch::lane();
    let most = group.count();
    let mut union = value;
    let mut back = last_lane(members.and(LaneMask::below(lane)), lane);
    let mut reach = 1;
    while reach < most {
        let other = group.shuffle(union, back);
        let further = group.shuffle(back, back);
        // At the end of the chain a lane takes its own value again, which changes nothing.
        union |= other;
        back = further;
        reach *= 2;
    }
    union
}

/// The last lane of `lanes`, or `otherwise` if there is none.
#[inline(always)]
pub fn last_lane(lanes: LaneMask, otherwise: u32) -> u32 {
    select(lanes.is_empty(), otherwise, lanes.last())
}
