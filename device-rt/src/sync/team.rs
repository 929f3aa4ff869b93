//! Lanes of a group that want the same.

use super::reduce::{PrefixSum, sum_of, union_of};
use crate::arch::{self, Group};
use warpheap_api::{LaneMask, select};

/// The lanes of a [`Group`] that gave the same key: a labelled part of it, with a leader that acts for all
/// members. Each lane of the group has the team that it is in; teams do not overlap.
///
/// Methods that say *collective* are reached by all lanes of the *group*, whichever team they are in.
#[derive(Clone, Copy)]
pub struct Team<const FULL: bool = false> {
    group: Group<FULL>,
    members: LaneMask,
    leader: u32,
}

impl<const FULL: bool> Team<FULL> {
    /// Collective: the team of the lanes that give the same `key`.
    #[inline(always)]
    pub fn by_key(group: Group<FULL>, key: u32) -> Self {
        Self::new(group, group.match_any(key))
    }

    /// Collective: the team of the lanes that give the same address of a word, of however many bits.
    #[inline(always)]
    pub fn by_word(group: Group<FULL>, word: usize) -> Self {
        let mut members = group.match_any(word as u32);
        if size_of::<usize>() > 4 {
            // In two steps, since a shift by all bits of a word is none.
            members = members.and(group.match_any((word >> 16 >> 16) as u32));
        }
        Self::new(group, members)
    }

    /// The team of these lanes of the group, the same set in each of them.
    #[inline(always)]
    pub fn new(group: Group<FULL>, members: LaneMask) -> Self {
        Team {
            group,
            members,
            leader: members.last(),
        }
    }

    /// The members among `lanes`, with the same leader, which may not be one of them.
    #[inline(always)]
    pub fn among(self, lanes: LaneMask) -> Self {
        Team {
            members: self.members.and(lanes),
            ..self
        }
    }

    /// The group.
    #[inline(always)]
    pub fn group(self) -> Group<FULL> {
        self.group
    }

    /// Its lanes.
    #[inline(always)]
    pub fn members(self) -> LaneMask {
        self.members
    }

    /// Whether it has no members.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.members.is_empty()
    }

    /// Number of members.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.members.count()
    }

    /// Members before the calling lane.
    #[inline(always)]
    pub fn rank(self) -> u32 {
        self.members.rank(arch::lane())
    }

    /// The lane that acts for all: the highest.
    #[inline(always)]
    pub fn leader(self) -> u32 {
        self.leader
    }

    /// Whether the calling lane acts for all.
    #[inline(always)]
    pub fn leads(self) -> bool {
        arch::lane() == self.leader
    }

    /// Collective: the leader's `value`.
    #[inline(always)]
    pub fn broadcast(self, value: u32) -> u32 {
        self.group.shuffle(value, self.leader)
    }

    /// Collective: the members whose `vote` is true.
    #[inline(always)]
    pub fn ballot(self, vote: bool) -> LaneMask {
        self.group.ballot(vote).and(self.members)
    }

    /// Collective: the sum (wrapping) of `value` over the members.
    #[inline(always)]
    pub fn sum(self, value: u32) -> PrefixSum {
        sum_of(self.group, self.members, value)
    }

    /// Collective: the union of the bits of `value` over the members. The leader gets it, the others some part
    /// of it.
    #[inline(always)]
    pub fn union_to_leader(self, value: u32) -> u32 {
        union_of(self.group, self.members, value)
    }

    /// Collective: the `value` of the member that follows in the order of lanes, or of the calling lane if it is the
    /// last one.
    #[inline(always)]
    pub fn from_next(self, value: u32) -> u32 {
        let after = self.members.after(arch::lane());
        let next = select(after.is_empty(), arch::lane(), after.first());
        self.group.shuffle(value, next)
    }
}
