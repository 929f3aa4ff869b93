//! Adding queue chunks to virtualised queues (§5.1): under a lock that is only tried, by all lanes of a
//! team.

use super::chunk::{QUEUE, STATE, state};
use super::geometry::{HEAD_LOCK, HEAD_NEXT, HEAD_ROOM, NONE};
use super::queue::{EVENTS, NEXT, NUMBER};
use super::{Ouroboros, Queue, Strategy};
use crate::arch;
use crate::sync::last_lane;
use crate::thread;
use warpheap_api::{HeapMemory, LaneMask, least, select};

/// Looks at a queue that another team adds chunks to.
const LOOKS: u32 = 64;

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// Adds queue chunks for teams whose leaders want it: the more, the larger the launch, since they are
    /// added one team at a time.
    #[inline(always)]
    pub(super) fn grow(
        self,
        lanes: LaneMask,
        team: LaneMask,
        class: u32,
        wants: bool,
        count: u32,
        served: bool,
    ) {
        let core = self.core;
        let lane = arch::lane();
        let lock = core.geometry.head(class, HEAD_LOCK);
        let room = core.geometry.head(class, HEAD_ROOM);
        let next = core.geometry.head(class, HEAD_NEXT);
        let log = core.geometry.slots_log();
        let (slots, numbers) = (1u32 << log, u32::MAX >> log);
        let most = least(thread::count() >> (log + 2), lanes.count());
        let most = select(most == 0, 1, most);
        let (mut holds, mut number) = (false, 0);
        if wants {
            holds = core.words.compare_exchange(lock, 0, 1) == 0;
            if holds {
                // Who held it before may have written this.
                core.words.acquire();
                number = core.words.load(next);
                if core.words.load(room) as i32 >= (most * slots) as i32 {
                    core.words.store(lock, 0);
                    holds = false;
                }
            } else if !served {
                let mut looks = 0;
                while (looks < LOOKS) & ((core.words.load(room) as i32) < count as i32) {
                    looks += 1;
                }
            }
        }
        arch::warp_barrier(lanes);
        let helps = team.contains(lane);
        let leader = select(helps, team.first(), lane);
        let holds_team = arch::shuffle(lanes, holds as u32, leader) != 0;
        let number = arch::shuffle(lanes, number, leader);
        // Each lane of the team takes a chunk.
        let rank = team.rank(lane);
        let mine = (number + rank) & numbers;
        let mut chunk = NONE;
        let tries = helps & holds_team & (rank < most);
        if tries && Q::can_add(core, class, mine) {
            chunk = core.take_chunk(0);
        }
        // Those up to the first one that got none count.
        let lacking = arch::ballot(lanes, tries & (chunk == NONE)).and(team);
        let valid = (chunk != NONE) & (lacking.is_empty() | (lane < lacking.first()));
        if (chunk != NONE) & !valid {
            core.give_chunk(chunk, 0);
        }
        let added = arch::ballot(lanes, valid).and(team);
        let chunk = select(valid, chunk, NONE);
        let before = last_lane(added.and(LaneMask::below(lane)), lane);
        let before_chunk = arch::shuffle(lanes, chunk, before);
        let newest = arch::shuffle(lanes, chunk, last_lane(added, lane));
        let mut filler = select(added.is_empty(), lane, added.first());
        let mut i = 0;
        while i < most {
            let fills = arch::shuffle(lanes, chunk, filler);
            if fills != NONE {
                let first = core.entries(fills);
                let mut at = rank;
                while at < slots {
                    core.words.write(first + at as usize, NONE);
                    at += team.count();
                }
            }
            let after = added.after(filler);
            filler = select(after.is_empty(), filler, after.first());
            i += 1;
        }
        if valid {
            let header = core.geometry.header(chunk);
            core.words.store(header + EVENTS, 0);
            core.words.store(header + NUMBER, mine);
            core.words.store(header + NEXT, NONE);
            core.words
                .store(header + STATE, state(class + 1 + QUEUE, 0));
        }
        core.words.release();
        arch::warp_barrier(lanes);
        if valid & (before != lane) {
            Q::add(core, class, chunk, mine, before_chunk);
        }
        core.words.release();
        arch::warp_barrier(lanes);
        if holds {
            if valid {
                Q::add_first(core, class, chunk, mine, newest);
                let end = number.wrapping_add(added.count());
                core.words.store(next, end & numbers);
                core.words.release();
                core.words.fetch_add(room, added.count() << log);
            }
            core.words.store(lock, 0);
        }
    }
}
