//! Places of entries: writing one, taking one, and counting what was written and taken in a queue chunk.

use super::Core;
use super::chunk::STATE;
use super::geometry::{HEAD_ROOM, NONE};
use super::queue::{EVENTS, Queue, Way};
use warpheap_api::{HeapMemory, least, select};

/// The mark of a reader that left.
const SKIPPED: u32 = u32::MAX - 1;

/// One entry written.
pub(super) const WRITTEN: u32 = 1;
/// One entry taken.
const TAKEN: u32 = 1 << 16;

/// Looks at a place whose entry is being written.
const LOOKS: u32 = 64;
/// Attempts to leave a place.
const LEAVES: u32 = 8;

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

    /// Takes `count` positions from a queue's front or back, for entries, or room, that the caller has.
    ///
    /// Which entries a position gets depends on what others had when they took theirs. So all that they knew of queue
    /// chunks goes along with the counter: else a position's chunk might not be found.
    #[inline(always)]
    pub(super) fn take_positions<Q: Queue>(self, counter: usize, count: u32) -> u32 {
        if Q::VIRTUAL {
            self.words.acquire();
            self.words.release();
        }
        let position = self.words.fetch_add(counter, count);
        if Q::VIRTUAL {
            self.words.acquire();
        }
        position
    }

    /// Gives a queue chunk back.
    #[inline(always)]
    pub(super) fn drop_queue_chunk(self, chunk: u32) {
        self.words.store(self.geometry.header(chunk) + STATE, 0);
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
    pub(super) fn write_entry<Q: Queue>(
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

    /// Counts `count` entries that were written or taken, which `event` says, in their queue chunks.
    #[inline(always)]
    pub(super) fn count_events<Q: Queue>(
        self,
        class: u32,
        position: u32,
        count: u32,
        event: u32,
        known: Known,
    ) {
        let log = self.geometry.slots_log();
        let (mut position, mut left) = (position, count);
        // A queue chunk all of whose entries count may get another use: nobody is at them any more.
        self.words.release();
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
                    // Of two who could move a pointer at least one sees what the other one did.
                    self.words.acquire();
                    self.words.release();
                    Q::progressed(self, class, chunk, number, all);
                }
            }
            position = position.wrapping_add(here);
            left -= here;
        }
    }
}
