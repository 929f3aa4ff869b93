//! Chunks that warps take pages from at the moment: between the queue of a class and its requests.
//!
//! A queue's front is one chunk for all warps, and it moves a chunk at a time. So a chunk that was taken out of
//! the queue goes into one of the class's *slots*, which warps are spread over. Like an entry of
//! the queue, what a slot names is a hint: the chunk's header says of which class it is and what it has. A
//! chunk in a slot counts as listed.

use super::chunk::{LISTED, STATE, count_of, tag_of};
use super::enqueue::Entries;
use super::geometry::{HEAD_COUNT, HEAD_ENTRIES, HEAD_FRONT, HEAD_SLOTS, NONE, SLOTS};
use super::places::Known;
use super::{Chunks, Deal, Ouroboros, Queue, Strategy};
use crate::arch::{self, Group};
use crate::sync::Team;
use crate::thread;
use warpheap_api::{HeapMemory, least, select};

/// Chunks that a team looks at before it makes one of its own.
const TRIES: u32 = 128;

impl<Q: Queue> Ouroboros<Chunks, Q> {
    /// The slot where this warp looks first: one of few in small launches and heaps.
    #[inline(always)]
    fn home(self) -> u32 {
        let chunks = self.core.geometry.chunks;
        let spread = least(SLOTS, least(thread::count() >> 10, chunks >> 8));
        thread::index() / arch::warp_width() % select(spread == 0, 1, spread)
    }

    /// Pages of a chunk in a slot or at the queue's front, for who took `there` from the semaphore.
    #[inline(always)]
    pub(super) fn queued_pages(self, class: u32, there: u32) -> Deal {
        let core = self.core;
        let mut deal = Deal::NOTHING;
        let (mut slot, mut in_slot) = (self.home(), NONE);
        // Whether to look into the slot or at the queue's front, and whether nothing was there.
        let (mut front, mut dry) = (false, false);
        let (mut got, mut tries) = (0, 0);
        let mut going = true;
        while going {
            let at = core.geometry.head(class, HEAD_SLOTS) + slot as usize;
            let chunk = if front {
                self.pop(class)
            } else {
                core.words.load(at).wrapping_sub(1)
            };
            in_slot = select(front, in_slot, chunk);
            let mut last = true;
            if chunk < core.geometry.chunks {
                let taken = core.take_pages(chunk, class, there);
                got = taken.mask.count_ones();
                last = taken.last;
                deal = self.bits(class, chunk, taken);
                if front {
                    // What neither slot nor queue has any more.
                    let mut out = chunk;
                    if !last {
                        out = self.put(at, in_slot, chunk);
                    }
                    deal.list = self.unlist(class, out);
                }
            }
            dry |= front & (chunk == NONE);
            let next = !front & last & !dry;
            let further = select(slot + 1 == SLOTS, 0, slot + 1);
            slot = select(next, slot, further);
            front = next;
            tries += 1;
            going = (got == 0) & (deal.list == NONE) & (tries < TRIES);
        }
        if got != there {
            let count = core.geometry.head(class, HEAD_COUNT);
            core.words.fetch_add(count, there - got);
        }
        deal
    }

    /// Puts a chunk into a slot in place of `old`. Which of the two is in none: `old`, or the chunk, if the
    /// slot has another one by now.
    #[inline(always)]
    fn put(self, at: usize, old: u32, chunk: u32) -> u32 {
        let seen = old.wrapping_add(1);
        let put = self.core.words.compare_exchange(at, seen, chunk + 1) == seen;
        select(put, old, chunk)
    }

    /// Offers a chunk that was just opened to other warps: in this one's slot, if what is there has no
    /// pages. The chunk that goes into the queue instead.
    #[inline(always)]
    pub(super) fn offer(self, class: u32, chunk: u32) -> u32 {
        let core = self.core;
        let at = core.geometry.head(class, HEAD_SLOTS) + self.home() as usize;
        let old = core.words.load(at).wrapping_sub(1);
        let mut list = chunk;
        if !self.has_pages(class, old) {
            list = self.put(at, old, chunk);
            if list != chunk {
                list = self.unlist(class, list);
                let entries = core.words.load(core.geometry.head(class, HEAD_ENTRIES));
                if (list == NONE) & (entries as i32 > SLOTS as i32) {
                    list = self.sift(class);
                }
            }
        }
        list
    }

    /// Takes an entry out of the queue that may be one of a chunk that was given back, so that these do not
    /// pile up. The entry if it goes back into the queue.
    #[inline(always)]
    fn sift(self, class: u32) -> u32 {
        let chunk = self.pop(class);
        let mut list = chunk;
        if !self.has_pages(class, chunk) {
            list = self.unlist(class, chunk);
        }
        list
    }

    /// Whether this is a chunk of the class that has free pages.
    #[inline(always)]
    fn has_pages(self, class: u32, chunk: u32) -> bool {
        let core = self.core;
        let mut seen = 0;
        if chunk < core.geometry.chunks {
            seen = core.words.load(core.geometry.header(chunk) + STATE);
        }
        (tag_of(seen) == class + 1) & (count_of(seen) != 0)
    }

    /// A chunk is in no slot and not in the queue any more. The chunk if it has a free page again and is
    /// to be listed once more (RE_ENQUEUE of Algorithm 5).
    #[inline(always)]
    fn unlist(self, class: u32, chunk: u32) -> u32 {
        let core = self.core;
        let mut list = NONE;
        if chunk < core.geometry.chunks {
            let header = core.geometry.header(chunk);
            // Not for a chunk that serves another class by now.
            if tag_of(core.words.load(header + STATE)) == class + 1 {
                core.words.exchange(header + LISTED, 0);
                if self.has_pages(class, chunk) && core.words.exchange(header + LISTED, 1) == 0 {
                    list = chunk;
                }
            }
        }
        list
    }

    /// Takes the entry at the queue's front; [`NONE`] if there is none.
    #[inline(always)]
    fn pop(self, class: u32) -> u32 {
        let core = self.core;
        let entries = core.geometry.head(class, HEAD_ENTRIES);
        let mut entry = NONE;
        if core.words.load(entries) as i32 > 0 && core.take_of(entries, 1) != 0 {
            let front = core.geometry.head(class, HEAD_FRONT);
            let position = core.take_positions::<Q>(front, 1);
            let mut known = Known::NOTHING;
            entry = core.take_entry::<Q>(class, position, &mut known);
            core.entries_taken::<Q>(class, position, 1, known);
            if entry == NONE {
                // Who writes it finds the mark, and does not count it.
                core.words.fetch_add(entries, 1);
            }
        }
        entry
    }
}

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// Collective: puts chunks into the queues of their classes, of each lane that has one.
    #[inline(always)]
    pub(super) fn list_chunks(self, group: Group, class: u32, chunk: u32) {
        let lists = chunk != NONE;
        if group.any(lists) {
            let team = Team::by_key(group, select(lists, class, u32::MAX));
            let written = self.enqueue(team, class, Entries::one_each(team, lists, chunk));
            if team.leads() & (written != 0) {
                let entries = self.core.geometry.head(class, HEAD_ENTRIES);
                self.core.words.fetch_add(entries, written);
            }
        }
    }
}
