//! How lanes that each have a block share the work on them.
//!
//! A lane that goes over a block by itself touches words that are far from those of the others, each of which moves a sector of
//! eight words. So the lanes of a group deal out their blocks: equal teams of lanes take one each, side by side.

use crate::arch::{self, Group};
use warpheap_api::{LaneMask, least, select};

/// Lanes that work on a block of medium size, beside other teams.
const TEAM: u32 = 8;
/// From this many granules on all lanes of a group work on one block after the other.
const BY_ALL: u32 = 256;

/// The last lane that a warp can have.
const LAST: u32 = 63;

/// The blocks that are left, for teams of one size.
#[derive(Clone, Copy)]
pub(crate) struct Deal {
    left: LaneMask,
    size: u32,
}

/// What a team does next.
#[derive(Clone, Copy)]
pub(crate) struct Dealt {
    /// The lane whose block it is; the calling lane itself if the team has none.
    pub(crate) owner: u32,
    /// Whether the team has one.
    pub(crate) has_one: bool,
    /// The blocks that are left then.
    pub(crate) rest: Deal,
}

impl Deal {
    /// Collective: the blocks for all lanes together: those of the lanes that have at least 256 granules.
    #[inline(always)]
    pub(crate) fn large(group: Group, granules: u32) -> Self {
        Deal {
            left: group.ballot(granules >= BY_ALL),
            size: group.count(),
        }
    }

    /// Collective: the blocks for teams of eight: those of fewer granules, but more than `alone`.
    #[inline(always)]
    pub(crate) fn medium(group: Group, granules: u32, alone: u32) -> Self {
        Deal {
            left: group.ballot((granules > alone) & (granules < BY_ALL)),
            size: least(TEAM, group.count()),
        }
    }

    /// Whether no block is left.
    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.left.is_empty()
    }

    /// Lanes of a team.
    #[inline(always)]
    pub(crate) fn size(self) -> u32 {
        self.size
    }

    /// The calling lane's number in its team.
    #[inline(always)]
    pub(crate) fn rank(self, group: Group) -> u32 {
        group.rank() % self.size
    }

    /// Deals one block to each team, as far as there are some: those of lanes that are side by side. Lanes beyond the last whole
    /// team get none.
    #[inline(always)]
    pub(crate) fn next(self, group: Group) -> Dealt {
        let teams = group.count() / self.size;
        let team = group.rank() / self.size;
        let first = self.left.first();
        let owner = first + team;
        let has_one = (team < teams) & (owner <= LAST) & self.left.contains(owner & LAST);
        Dealt {
            owner: select(has_one, owner, arch::lane()),
            has_one,
            rest: Deal {
                left: self.left.after(least(first + teams - 1, LAST)),
                ..self
            },
        }
    }
}
