//! Writing entries, all lanes of a group together.

use super::geometry::{HEAD_BACK, HEAD_ROOM};
use super::grow::Wish;
use super::places::{Known, WRITTEN};
use super::{Ouroboros, Queue, Strategy};
use crate::arch;
use crate::sync::Team;
use warpheap_api::{HeapMemory, select};

/// Attempts to get room.
const ATTEMPTS: u32 = 12;

/// What a team writes to its class's queue.
#[derive(Clone, Copy)]
pub(super) struct Entries {
    /// How many, the same in each lane of the team; of a team that writes nothing, zero.
    pub count: u32,
    /// The first one. If `step` is zero: this lane's, of which each member of the team has one.
    pub first: u32,
    /// From one entry to the next.
    pub step: u32,
}

impl Entries {
    /// An entry of each member of the team, if the team `writes`: this lane's is `entry`.
    #[inline(always)]
    pub(super) fn one_each(team: Team, writes: bool, entry: u32) -> Self {
        Entries {
            count: select(writes, team.count(), 0),
            first: entry,
            step: 0,
        }
    }
}

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// Collective: writes entries to queues, each `team` its own. The leader takes room and positions, also if it is
    /// not a member, and the members write. Entries that the queue does not take are left to the strategy. The number
    /// of them that the queue took, in the leader.
    #[inline(always)]
    pub(super) fn enqueue(self, team: Team, class: u32, entries: Entries) -> u32 {
        let core = self.core;
        let group = team.group();
        let leads = team.leads() & (entries.count != 0);
        let (mut position, mut served) = (0, false);
        let mut attempt = 0;
        let mut again = true;
        while again {
            let mut wish = Wish {
                grow: false,
                room: 0,
            };
            if leads {
                let before = served;
                if !served {
                    let room = core.geometry.head(class, HEAD_ROOM);
                    served =
                        core.words.fetch_sub(room, entries.count) as i32 >= entries.count as i32;
                    if served {
                        let back = core.geometry.head(class, HEAD_BACK);
                        position = core.take_positions::<Q>(back, entries.count);
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
            if Q::VIRTUAL && group.any(wish.grow) {
                self.grow(group, class, wish);
            }
            attempt += 1;
            again = group.any(Q::VIRTUAL & leads & !served) & (attempt < ATTEMPTS);
        }
        group.barrier();
        let position = team.broadcast(position);
        let served = team.broadcast(served as u32) != 0;
        let mut lost = 0;
        let mut known = Known::NOTHING;
        if team.members().contains(arch::lane()) {
            let mut i = team.rank();
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
        let mut sum = 0;
        if group.any(lost != 0) {
            sum = team.sum(lost).total;
        }
        if Q::VIRTUAL {
            // What the others wrote counts after it is written.
            group.barrier();
        }
        if leads & served & Q::VIRTUAL {
            core.count_events::<Q>(class, position, entries.count, WRITTEN, known);
        }
        entries.count.wrapping_sub(sum)
    }
}
