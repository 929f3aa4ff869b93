//! Adding queue chunks to virtualised queues (§5.1): under a lock that is only tried, by all lanes of a
//! warp.

use super::chunk::{QUEUE, STATE, state};
use super::geometry::{HEAD_NEXT, HEAD_ROOM, NONE};
use super::queue::{EVENTS, NEXT, NUMBER};
use super::{Core, Ouroboros, Queue, Strategy};
use crate::arch::{self, Group};
use crate::sync::{Team, last_lane};
use crate::thread;
use warpheap_api::{HeapMemory, LaneMask, least, select};

/// Looks at a queue that another warp adds chunks to.
const LOOKS: u32 = 64;
/// Nanoseconds between them. Whoever adds is as slow as the looks at its words make it.
const PAUSE: u32 = 400;

/// In the word of the next queue chunk's number: somebody adds it.
const HELD: u32 = 1 << 31;

/// What a team's leader wants of [`Ouroboros::grow`].
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// Whether it wants anything.
    pub grow: bool,
    /// Room that it cannot do without.
    pub room: u32,
}

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// Collective: adds queue chunks for teams whose leaders want it: the more, the larger the launch, since they are
    /// added by one warp at a time.
    #[inline(always)]
    pub(super) fn grow(self, group: Group, class: u32, wish: Wish) {
        let core = self.core;
        let lane = arch::lane();
        let lock = core.geometry.head(class, HEAD_NEXT);
        let room = core.geometry.head(class, HEAD_ROOM);
        let log = core.geometry.slots_log();
        // No more than a thousandth of the heap.
        let most = least(thread::count() >> (log + 2), core.geometry.chunks >> 10);
        let most = least(select(most == 0, 1, most), group.count());
        let (mut holds, mut number) = (false, 0);
        if wish.grow {
            let there = core.words.load(room) as i32;
            let old = core.words.fetch_or(lock, HELD);
            number = old & !HELD;
            holds = old & HELD == 0;
            if holds & (there >= (most << log) as i32) {
                // Not a store: whoever holds it next acquires what those before released.
                core.words.fetch_and(lock, !HELD);
                holds = false;
            }
        }
        if holds {
            // What those who held it before added is known here, and behind the barrier to all.
            core.words.acquire();
        }
        group.barrier();
        let mut holders = group.ballot(holds);
        if holders.is_empty() {
            if wish.room != 0 {
                let mut looks = 0;
                while (looks < LOOKS) & ((core.words.load(room) as i32) < wish.room as i32) {
                    arch::pause(PAUSE);
                    looks += 1;
                }
            }
            group.barrier();
        }
        while !holders.is_empty() {
            let holder = holders.first();
            let class = group.shuffle(class, holder);
            let number = group.shuffle(number, holder);
            self.add_chunks(group, class, number, most, lane == holder);
            holders = holders.without(LaneMask::only(holder));
        }
    }

    /// Collective: adds up to `most` queue chunks from this number on, of which each lane takes one. The lane that
    /// `holds` the queue's lock lets it go.
    #[inline(always)]
    fn add_chunks(self, group: Group, class: u32, number: u32, most: u32, holds: bool) {
        let core = self.core;
        let lane = arch::lane();
        let log = core.geometry.slots_log();
        let numbers = u32::MAX >> log;
        let rank = group.rank();
        let mine = (number + rank) & numbers;
        let (mut before, mut chunk) = (NONE, NONE);
        if holds {
            before = Q::newest(core, class);
        }
        let can = Q::can_add(core, class, mine);
        if rank < most {
            chunk = core.take_chunk(0);
        }
        // Those up to the first one that got none count.
        let lacking = group.ballot((rank < most) & ((chunk == NONE) | !can));
        let valid = (rank < most) & (lacking.is_empty() | (lane < lacking.first()));
        if (chunk != NONE) & !valid {
            core.give_chunk(chunk, 0);
        }
        let chunk = select(valid, chunk, NONE);
        let added = group.ballot(valid);
        let next = Team::new(group, added).from_next(chunk);
        let last = last_lane(added, lane);
        let newest = group.shuffle(chunk, last);
        let oldest = group.shuffle(chunk, select(added.is_empty(), lane, added.first()));
        if valid {
            let header = core.geometry.header(chunk);
            core.words.store(header + EVENTS, 0);
            core.words.store(header + NUMBER, mine);
            core.words
                .store(header + NEXT, select(lane == last, NONE, next));
            core.words
                .store(header + STATE, state(class + 1 + QUEUE, 0));
        }
        // What each lane knows of its chunk is known to all, who fill it.
        group.barrier();
        let mut filler = 0;
        while filler < added.count() {
            // Valid lanes are the first ones.
            let fills = group.shuffle(chunk, crate::bits::nth_lane(group.lanes(), filler));
            core.empty_entries(fills, rank, group.count());
            filler += 1;
        }
        // Each makes known what all lanes wrote, and the holder then that it did.
        group.release();
        if Q::IN_RING {
            if valid {
                Q::add(core, class, chunk, mine);
            }
            group.release();
        }
        if holds {
            let some = !added.is_empty();
            if some {
                Q::publish(core, class, (oldest, newest), before);
                let room = core.geometry.head(class, HEAD_ROOM);
                core.words.fetch_add(room, added.count() << log);
            }
            let end = number.wrapping_add(added.count()) & numbers;
            core.words.store(core.geometry.head(class, HEAD_NEXT), end);
            if some {
                Q::settle(core, class, before);
            }
        }
        group.barrier();
    }
}

impl Core {
    /// Empties the places of a queue chunk: what lane `rank` of `count` does for it.
    #[inline(always)]
    fn empty_entries(self, chunk: u32, rank: u32, count: u32) {
        let first = self.entries(chunk);
        let slots = 1u32 << self.geometry.slots_log();
        let mut at = rank;
        // Stores that do not wait for a comparison each: the queue waits for the last one.
        while at + 7 * count < slots {
            let mut i = 0;
            while i < 8 {
                self.words.write(first + (at + i * count) as usize, NONE);
                i += 1;
            }
            at += 8 * count;
        }
        while at < slots {
            self.words.write(first + at as usize, NONE);
            at += count;
        }
    }
}
