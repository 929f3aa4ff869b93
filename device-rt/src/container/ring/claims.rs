//! How lanes get positions of a ring: by additions, a team at a time.

use super::{HEAD, READY, Ring, TAIL, USED, ahead};
use crate::sync::Team;
use warpheap_api::{HeapData, HeapMemory, least, select};

/// Why a lane got no position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::container) struct Answer(u32);

impl Answer {
    /// Nothing is certain.
    const PERHAPS: Self = Answer(0);
    /// The ring was empty.
    pub const EMPTY: Self = Answer(1);
    /// The ring was empty, and stays so: it is closed.
    pub const DRAINED: Self = Answer(2);
    /// The ring was full of elements.
    pub const FULL: Self = Answer(3);
}

/// What a round of claiming came to, for one lane.
#[derive(Clone, Copy)]
pub(in crate::container) struct Claim {
    pub(super) position: u32,
    /// Whether the position is the lane's.
    pub claimed: bool,
    /// Positions that the team has.
    pub(super) some: u32,
    /// If not: why.
    pub answer: Answer,
}

impl<T: HeapData + Copy, M: HeapMemory> Ring<T, M> {
    /// Collective over the team's group: positions to push to, for members from the first on. For the others all slots were in
    /// use, or the ring is closed. With `looks` nothing is added where all are in use before: lanes that come again and
    /// again would hamper each other.
    #[inline(always)]
    pub fn claim_to_push(self, team: Team, looks: bool) -> Claim {
        let words = self.words;
        let (mut first, mut some) = (0, 0);
        if team.leads() {
            let (lanes, room) = (team.count(), 1 << self.log2);
            if !looks || ((words.load(self.at + USED) as i32) < room) {
                let before = words.fetch_add(self.at + USED, lanes) as i32;
                some = part(room - before, lanes);
                if some != 0 {
                    first = words.fetch_add(self.at + TAIL, 2 * some);
                    some = select(first & 1 == 0, some, 0);
                }
                if some < lanes {
                    words.fetch_sub(self.at + USED, lanes - some);
                }
            }
        }
        // What the leader knows now is the members' too: who pops what they push is to find it at the tail.
        team.group().barrier();
        first = team.broadcast(first);
        some = team.broadcast(some);
        Claim {
            position: (first >> 1).wrapping_add(team.rank()),
            claimed: team.rank() < some,
            some,
            answer: Answer::PERHAPS,
        }
    }

    /// Collective over the team's group, between [`claim_to_push`](Self::claim_to_push) and [`put`](Self::put): whether members
    /// that claimed no position are told so since each slot had an element. Slots are in use by lanes under way, too, which this
    /// does not count.
    #[inline(always)]
    pub fn answer_full(self, team: Team, claim: Claim) -> Claim {
        let words = self.words;
        let room = 1 << self.log2;
        let mut answer = Answer::PERHAPS.0;
        // Less than there are: who pushes adds when it is done, who pops subtracts before it begins.
        if team.leads()
            && (claim.some < team.count())
            && (words.load(self.at + READY) as i32 >= room)
        {
            // Once more by a change of nothing, for the order of pushes to two queues, see `claim_to_pop`.
            words.release();
            let full = words.fetch_add(self.at + READY, 0) as i32 >= room;
            words.acquire();
            answer = select(full, Answer::FULL.0, answer);
        }
        Claim {
            answer: Answer(team.broadcast(answer)),
            ..claim
        }
    }

    /// Collective over the team's group: positions to pop from, for members from the first on. `insists` takes them where the
    /// count says that nothing is ready but the tail that there are positions: elements on their way, or lost positions.
    #[inline(always)]
    pub fn claim_to_pop(self, team: Team, insists: bool) -> Claim {
        let words = self.words;
        let (mut first, mut some, mut answer) = (0, 0, Answer::PERHAPS);
        // What the members know of pushes the leader knows.
        team.group().barrier();
        if team.leads() {
            let lanes = team.count();
            let before = words.fetch_sub(self.at + READY, lanes) as i32;
            some = part(before, lanes);
            if some == 0 {
                // In this order: if all positions that were pushed to had been given to those who pop before, there was no
                // element in between.
                let head = words.load(self.at + HEAD);
                words.acquire();
                let mut tail = words.load(self.at + TAIL);
                if ahead(tail >> 1, head) <= 0 {
                    // Looked at once more by a change of nothing, which whoever pushes next sees, and with it what this lane
                    // knows of the head. With loads alone two lanes could see two pushes to two queues in different orders.
                    words.release();
                    tail = words.fetch_add(self.at + TAIL, 0);
                }
                let positions = ahead(tail >> 1, head);
                if positions <= 0 {
                    answer = if tail & 1 == 0 {
                        Answer::EMPTY
                    } else {
                        Answer::DRAINED
                    };
                } else if insists {
                    some = part(positions, lanes);
                }
            }
            if some < lanes {
                words.fetch_add(self.at + READY, lanes - some);
            }
            if some != 0 {
                first = words.fetch_add(self.at + HEAD, some);
            }
        }
        // Members that pass their slot over tell what the leader knows of the head.
        team.group().barrier();
        first = team.broadcast(first);
        some = team.broadcast(some);
        answer = Answer(team.broadcast(answer.0));
        Claim {
            position: first.wrapping_add(team.rank()),
            claimed: team.rank() < some,
            some,
            answer,
        }
    }
}

/// For how many of some lanes there is one of so many.
#[inline(always)]
fn part(there: i32, lanes: u32) -> u32 {
    select(there < 0, 0, least(there as u32, lanes))
}
