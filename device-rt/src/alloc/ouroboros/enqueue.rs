//! Writing entries, all lanes of a warp together.

use super::geometry::{HEAD_BACK, HEAD_ROOM};
use super::grow::Wish;
use super::places::{Known, WRITTEN};
use super::{Ouroboros, Queue, Strategy};
use crate::arch;
use warpheap_api::{HeapMemory, LaneMask, select};

/// Attempts to get room.
const ATTEMPTS: u32 = 12;

/// What a team writes to its class's queue.
#[derive(Clone, Copy)]
pub(super) struct Entries {
    /// How many; of lanes that write nothing, zero.
    pub count: u32,
    /// The first one. If `step` is zero: this lane's, of which each lane of the team has one.
    pub first: u32,
    /// From one entry to the next.
    pub step: u32,
}

impl Entries {
    /// An entry of each lane of the team: this lane's is `entry`.
    #[inline(always)]
    pub(super) fn one_each(team: LaneMask, entry: u32) -> Self {
        Entries {
            count: team.count(),
            first: entry,
            step: 0,
        }
    }
}

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// Writes entries to queues, all of `lanes` together: each `team` its own. Entries that the queue
    /// does not take are left to the strategy. The number of them that the queue took, in the leader.
    #[inline(always)]
    pub(super) fn enqueue(
        self,
        lanes: LaneMask,
        team: LaneMask,
        class: u32,
        entries: Entries,
    ) -> u32 {
        let core = self.core;
        let lane = arch::lane();
        let leader = team.first();
        let (mut position, mut served) = (0, false);
        let mut attempt = 0;
        let mut again = true;
        while again {
            let mut wish = Wish {
                grow: false,
                room: 0,
            };
            if lane == leader {
                let before = served;
                if !served {
                    let room = core.geometry.head(class, HEAD_ROOM);
                    served =
                        core.words.fetch_sub(room, entries.count) as i32 >= entries.count as i32;
                    if served {
                        let back = core.geometry.head(class, HEAD_BACK);
                        position = core.words.fetch_add(back, entries.count);
                    } else {
                        core.words.fetch_add(room, entries.count);
                    }
                }
                // Who has the middle place of a queue chunk adds the next one.
                let log = core.geometry.slots_log();
                let end = position.wrapping_add(entries.count);
                let half = 1u32 << (log - 1);
                let middle = position.wrapping_add(half) >> log != end.wrapping_add(half) >> log;
                wish.grow = Q::VIRTUAL & (!served | (middle & !before));
                wish.room = select(served, 0, entries.count);
            }
            if Q::VIRTUAL && !arch::ballot(lanes, wish.grow).is_empty() {
                self.grow(lanes, class, wish);
            }
            attempt += 1;
            let unserved = Q::VIRTUAL & (lane == leader) & !served;
            again = !arch::ballot(lanes, unserved).is_empty() & (attempt < ATTEMPTS);
        }
        let writes = team.contains(lane);
        let source = select(writes, leader, lane);
        arch::warp_barrier(lanes);
        let position = arch::shuffle(lanes, position, source);
        let served = arch::shuffle(lanes, served as u32, source) != 0;
        let mut lost = 0;
        let mut known = Known::NOTHING;
        if writes {
            let mut i = team.rank(lane);
            while i < entries.count {
                let entry = entries.first.wrapping_add(i * entries.step);
                let there = served
                    && core.write_entry::<Q>(class, position.wrapping_add(i), entry, &mut known);
                if !there {
                    S::keep(self, class, entry);
                    lost += 1;
                }
                i += team.count();
            }
        }
        // One entry a lane, or entries of a whole chunk of which rarely any is lost.
        let any_lost = !arch::ballot(lanes, lost != 0).is_empty();
        let mut sum = lost;
        if any_lost {
            sum = team_sum(lanes, team, lost);
        }
        if (lane == leader) & served & Q::VIRTUAL {
            core.count_events::<Q>(class, position, entries.count, WRITTEN, known);
        }
        entries.count.wrapping_sub(sum)
    }
}

/// Sum of `value` over the lanes of the team, in its first lane; others get some number.
#[inline(always)]
fn team_sum(lanes: LaneMask, team: LaneMask, value: u32) -> u32 {
    let lane = arch::lane();
    let mut sum = value;
    let after = team.after(lane);
    let mut next = select(after.is_empty(), lane, after.first());
    let mut reach = 1;
    while reach < lanes.count() {
        let other = arch::shuffle(lanes, sum, next);
        let further = arch::shuffle(lanes, next, next);
        sum = sum.wrapping_add(select(next != lane, other, 0));
        next = select(further == next, lane, further);
        reach *= 2;
    }
    sum
}
