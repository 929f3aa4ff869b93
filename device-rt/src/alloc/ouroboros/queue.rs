//! Queues of entries: pages, or chunks with free pages (§3.3, §4, §5).
//!
//! Positions count up for ever. Who writes entries first takes *room*, which the queue has made before,
//! and then positions at the back; so every position that is handed out has its place in memory. A
//! place holds an entry, or nothing, or the mark of a reader that came before the writer and did not
//! wait any longer: then the writer takes the mark away and brings its entry elsewhere. So nobody
//! waits for somebody who stands still.
//!
//! | queue | places | room |
//! |---|---|---|
//! | [`Standard`](super::Standard) | a ring beside the chunks | what readers leave |
//! | [`VirtualArray`](super::VirtualArray) | queue chunks, found through a ring of chunk numbers | a queue chunk |
//! | [`VirtualLinked`](super::VirtualLinked) | queue chunks that are linked | a queue chunk |

use super::chunk::{LISTED, STATE};
use super::geometry::{HEAD_BACK, HEAD_ROOM, NONE};
use super::grow::Wish;
use super::{Core, Ouroboros, Strategy};
use crate::arch;
use warpheap_api::{HeapMemory, LaneMask, least, select};

/// The mark of a reader that left.
const SKIPPED: u32 = u32::MAX - 1;

/// Word of a queue chunk's header: entries written, and taken above it in 16 bits each.
pub(crate) const EVENTS: usize = 1;
/// Word of a queue chunk's header: its number in the queue.
pub(crate) const NUMBER: usize = 2;
/// Word of a queue chunk's header: the next one.
pub(super) const NEXT: usize = 3;
// Who lists a chunk may be late: the chunk may be a queue's by now.
const _: () = assert!(LISTED != EVENTS && LISTED != NUMBER && LISTED != NEXT);
/// One entry written.
const WRITTEN: u32 = 1;
/// One entry taken.
const TAKEN: u32 = 1 << 16;

/// Looks at a place whose entry is being written.
const LOOKS: u32 = 64;
/// Attempts to leave a place.
const LEAVES: u32 = 8;
/// Attempts to get room.
const ATTEMPTS: u32 = 12;

/// How a queue chunk is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Way {
    /// From the front, by who has a position in it.
    Front = 0,
    /// From the back, by who has a position in it.
    Back = 1,
}

/// Where a queue keeps its entries.
///
/// Implemented by the three queues of the paper; there is nothing to implement outside.
pub trait Queue: Copy + 'static {
    /// Number of the queue among the three.
    #[doc(hidden)]
    const INDEX: u32;
    /// Names of the allocator with this queue, of pages and of chunks.
    #[doc(hidden)]
    const NAMES: [&'static str; 2];
    /// Whether entries lie in queue chunks.
    #[doc(hidden)]
    const VIRTUAL: bool;

    /// The queue chunk with this number, in which the caller has a position; [`NONE`] if it was not found.
    #[doc(hidden)]
    fn chunk_of(core: Core, class: u32, number: u32, way: Way) -> u32;

    /// Whether the queue chunk with this number can be added. The caller holds the queue's lock.
    #[doc(hidden)]
    fn can_add(core: Core, class: u32, number: u32) -> bool;

    /// Adds a queue chunk with this number. The caller's warp holds the queue's lock, and fills it.
    #[doc(hidden)]
    #[inline(always)]
    fn add(_core: Core, _class: u32, _chunk: u32, _number: u32) {}

    /// The queue chunk that was added last; [`NONE`] if there is none, or it does not matter. The caller
    /// holds the queue's lock.
    #[doc(hidden)]
    #[inline(always)]
    fn newest(_core: Core, _class: u32) -> u32 {
        NONE
    }

    /// Links queue chunks, the oldest and the newest of those that were added, behind `before`. The caller
    /// holds the queue's lock.
    #[doc(hidden)]
    #[inline(always)]
    fn publish(_core: Core, _class: u32, _chunks: (u32, u32), _before: u32) {}

    /// What is left to do for who added queue chunks behind `before`.
    #[doc(hidden)]
    #[inline(always)]
    fn settle(_core: Core, _class: u32, _before: u32) {}

    /// All entries of a queue chunk were written, or written and taken.
    #[doc(hidden)]
    fn progressed(core: Core, class: u32, chunk: u32, number: u32, all: bool);
}

/// A queue chunk that was found, and its number.
#[derive(Clone, Copy)]
pub(super) struct Known {
    number: u32,
    chunk: u32,
}

impl Known {
    /// Nothing was looked for. Numbers have fewer bits.
    pub(super) const NOTHING: Known = Known {
        number: NONE,
        chunk: NONE,
    };
}

impl Core {
    /// Written and taken entries of a queue chunk that has seen all of them.
    #[inline(always)]
    pub(super) fn all_events(self) -> u32 {
        let slots = 1 << self.geometry.slots_log();
        slots * WRITTEN + slots * TAKEN
    }

    /// Whether all entries of a queue chunk with these events were written.
    #[inline(always)]
    pub(super) fn all_written(self, events: u32) -> bool {
        events & (TAKEN - 1) == 1 << self.geometry.slots_log()
    }

    /// First word of a queue chunk's entries.
    #[inline(always)]
    pub(super) fn entries(self, chunk: u32) -> usize {
        self.geometry.granule(chunk) as usize * 4
    }

    /// Gives a queue chunk back.
    #[inline(always)]
    pub(super) fn drop_queue_chunk(self, chunk: u32) {
        self.words.store(self.geometry.header(chunk) + STATE, 0);
        self.words.release();
        self.give_chunk(chunk, 0);
    }

    /// The word of a position; `usize::MAX` if its queue chunk was not found. Who looked for a position
    /// before was likely told the same queue chunk.
    #[inline(always)]
    fn slot<Q: Queue>(self, class: u32, position: u32, way: Way, known: &mut Known) -> usize {
        if Q::VIRTUAL {
            let log = self.geometry.slots_log();
            let number = position >> log;
            if number != known.number {
                known.number = number;
                known.chunk = Q::chunk_of(self, class, number, way);
            }
            let word = self.entries(known.chunk) + (position & ((1 << log) - 1)) as usize;
            if known.chunk < self.geometry.chunks {
                word
            } else {
                usize::MAX
            }
        } else {
            let log = self.geometry.queue_log;
            let word = (class << log) + (position & ((1 << log) - 1));
            self.geometry.queues as usize + word as usize
        }
    }

    /// Writes an entry to a position; whether it is there.
    #[inline(always)]
    fn write_entry<Q: Queue>(
        self,
        class: u32,
        position: u32,
        entry: u32,
        known: &mut Known,
    ) -> bool {
        let at = self.slot::<Q>(class, position, Way::Back, known);
        let mut old = SKIPPED;
        if at != usize::MAX {
            old = self.words.compare_exchange(at, NONE, entry);
            if old == SKIPPED {
                // Its reader left. Somebody a whole ring later may be here too, so only the mark may go.
                self.words.compare_exchange(at, SKIPPED, NONE);
            }
        }
        old == NONE
    }

    /// Takes the entry at a position that the caller alone reads; [`NONE`] if the caller left it, because
    /// it was not written in time.
    #[inline(always)]
    pub(super) fn take_entry<Q: Queue>(self, class: u32, position: u32, known: &mut Known) -> u32 {
        let at = self.slot::<Q>(class, position, Way::Front, known);
        let mut entry = NONE;
        if at != usize::MAX {
            entry = self.words.exchange(at, NONE);
            let mut looks = 0;
            while (entry >= SKIPPED) & (looks < LOOKS) {
                if self.words.load(at) < SKIPPED {
                    entry = self.words.exchange(at, NONE);
                }
                looks += 1;
            }
            // Leave a mark, unless an entry comes at the last moment: then it is taken by an exchange like any other,
            // since a reader a whole ring later may be here too and must not get the same entry.
            let mut left = false;
            let mut tries = 0;
            while (entry >= SKIPPED) & !left & (tries < LEAVES) {
                left = self.words.compare_exchange(at, NONE, SKIPPED) >= SKIPPED;
                if !left {
                    entry = self.words.exchange(at, NONE);
                }
                tries += 1;
            }
        }
        select(entry < SKIPPED, entry, NONE)
    }

    /// The entries of `count` positions were taken, or left.
    #[inline(always)]
    pub(super) fn entries_taken<Q: Queue>(
        self,
        class: u32,
        position: u32,
        count: u32,
        known: Known,
    ) {
        if Q::VIRTUAL {
            self.count_events::<Q>(class, position, count, TAKEN, known);
        } else {
            let room = self.geometry.head(class, HEAD_ROOM);
            self.words.fetch_add(room, count);
        }
    }

    #[inline(always)]
    fn count_events<Q: Queue>(
        self,
        class: u32,
        position: u32,
        count: u32,
        event: u32,
        known: Known,
    ) {
        let log = self.geometry.slots_log();
        let (mut position, mut left) = (position, count);
        while left != 0 {
            let here = least(left, (1 << log) - (position & ((1 << log) - 1)));
            let number = position >> log;
            let way = if event == WRITTEN {
                Way::Back
            } else {
                Way::Front
            };
            let mut chunk = known.chunk;
            if (number != known.number) | (chunk == NONE) {
                chunk = Q::chunk_of(self, class, number, way);
            }
            if chunk < self.geometry.chunks {
                let at = self.geometry.header(chunk) + EVENTS;
                let add = here * event;
                let new = self.words.fetch_add(at, add).wrapping_add(add);
                let all = new == self.all_events();
                if all | ((event == WRITTEN) & self.all_written(new)) {
                    Q::progressed(self, class, chunk, number, all);
                }
            }
            position = position.wrapping_add(here);
            left -= here;
        }
    }
}

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
