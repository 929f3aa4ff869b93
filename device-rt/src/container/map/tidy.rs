//! Giving the slots of removed keys back, where nobody else uses the map.
//!
//! The 32 places of a key are the slots of eight buckets side by side, a group; keys of other groups have none of them. So a
//! group of the root, and what hangs below it, is put in order by itself, group after group from above. Dead slots become empty. Keys
//! from below come up to them, since a search ends at an empty slot: below a group that is not full nothing may hang. Keys move to the first
//! empty place that they have. Keys of the trie come back to slots, if there is room.

use super::branch::{self, GROUPS, is_branch, is_claimed};
use super::clear::{first_link, lowest};
use super::cursor::TrieCursor;
use super::flat::{BUCKET_SLOTS, Entered, Flat, GROUP_SLOTS, stored_words};
use super::level::{Level, way_of};
use super::tag::{self, EMPTY, FULL, SIDES};
use super::trie::Trie;
use super::words::Stored;
use super::{leaf, leaf_value};
use crate::Heap;
use warpheap_api::{DeviceAlloc, HeapMemory};

impl Flat {
    /// Puts the group of the root with this number in order, and what hangs below it, and frees branches without keys. Of keys that
    /// come back from the trie the leaves are dead then.
    ///
    /// # Safety
    /// Nobody else uses them in this launch, and the map is of this heap.
    #[inline(always)]
    pub unsafe fn tidy_below<A: DeviceAlloc>(self, heap: Heap<A>, trie: Trie, group: u32) {
        let memory = heap.memory();
        let mut level = Level::root(self, way_of(group));
        let mut on = true;
        while on {
            self.empty_dead(memory, level.first);
            // SAFETY: the caller's promise.
            unsafe { self.fill_up(heap, level) };
            while self.move_forward(memory, level.first) {}
            level.link = memory.load(level.link_at(self, memory));
            if is_branch(level.link) {
                self.renew_filters(memory, level, level.link);
                level = level.below(self, memory);
            } else {
                while level.shift > self.bits && level.is_last() {
                    let branch = level.branch;
                    level = level.up(self, memory);
                    if !self.is_in_use(memory, branch) {
                        // SAFETY: no key is in it, nothing hangs below it, and the caller's promise.
                        unsafe { self.free_branch(heap, level.link_at(self, memory)) };
                    }
                }
                level = level.beside(self, memory, self.bits);
                on = level.shift != 0;
            }
        }
        self.take_back(memory, trie, group);
    }

    /// Makes slots of the group that begins at this word empty that no key is in.
    #[inline(always)]
    fn empty_dead<M: HeapMemory>(self, memory: M, first: usize) {
        let mut i = 0;
        while i < GROUP_SLOTS {
            let slot = self.slot(first, i);
            if tag::state(memory.load(slot)) != FULL {
                memory.store(slot, EMPTY);
            }
            i += 1;
        }
    }

    /// Fills the empty slots of a group with keys from below, from the lowest branches, and frees those that have no more. Afterwards it is full,
    /// or nothing hangs below it.
    ///
    /// # Safety
    /// As [`tidy_below`](Self::tidy_below).
    #[inline(always)]
    unsafe fn fill_up<A: DeviceAlloc>(self, heap: Heap<A>, level: Level) {
        let memory = heap.memory();
        let mut on = true;
        while on {
            let link = memory.load(level.link_at(self, memory));
            on = is_branch(link) && self.has_state(memory, level.first, EMPTY);
            if on {
                let at = lowest(memory, level.link_at(self, memory));
                if !self.pull(memory, memory.load(at), level.first) {
                    // SAFETY: nothing hangs below it, no key is in it, and the caller's promise.
                    unsafe { self.free_branch(heap, at) };
                }
            } else if is_claimed(link) {
                memory.store(level.link_at(self, memory), EMPTY);
            }
        }
    }

    /// Moves keys from a branch below to the group that begins at `to`, as far as there is room; whether keys are left.
    #[inline(always)]
    fn pull<M: HeapMemory>(self, memory: M, branch: u32, to: usize) -> bool {
        let mut left = false;
        let mut i = 0;
        while i < GROUPS * GROUP_SLOTS {
            let index = i % GROUP_SLOTS;
            let group = branch::group(memory, branch, i / GROUP_SLOTS, self.group_words());
            let slot = self.slot(group, index);
            if tag::state(memory.load(slot)) == FULL {
                left |= !self.move_before(memory, slot, index, to, GROUP_SLOTS);
            }
            i += 1;
        }
        left
    }

    /// Whether a key is in a branch or something hangs below it.
    #[inline(always)]
    fn is_in_use<M: HeapMemory>(self, memory: M, branch: u32) -> bool {
        let mut used = first_link(memory, branch) != 0;
        let mut digit = 0;
        while (digit < GROUPS) & !used {
            used = self.has_state(
                memory,
                branch::group(memory, branch, digit, self.group_words()),
                FULL,
            );
            digit += 1;
        }
        used
    }

    /// Brings keys from under a slot of the trie's root back to slots, as far as there is room; their leaves are dead then.
    #[inline(always)]
    fn take_back<M: HeapMemory>(self, memory: M, trie: Trie, prefix: u32) {
        let mut cursor = TrieCursor::new(trie, self.key_words, prefix, 1 << trie.root_bits);
        while cursor.step(memory) {
            if cursor.is_present(memory) {
                let key = Stored {
                    memory,
                    first: cursor.key_word(memory),
                    count: self.key_words,
                };
                let value = Stored {
                    memory,
                    first: leaf_value(memory, cursor.leaf(), self.key_words),
                    count: self.value_words,
                };
                if self.enter(memory, key, value).how == Entered::NEW {
                    leaf::kill(memory, cursor.leaf());
                }
            }
        }
    }

    /// Moves keys of the group that begins at this word to an empty place that comes before theirs; whether there was one.
    #[inline(always)]
    fn move_forward<M: HeapMemory>(self, memory: M, first: usize) -> bool {
        let mut moved = false;
        let mut i = 0;
        while i < GROUP_SLOTS {
            let slot = self.slot(first, i);
            let tag = memory.load(slot);
            if tag::state(tag) == FULL {
                let own = tag::side(tag) * BUCKET_SLOTS + i % BUCKET_SLOTS;
                moved |= self.move_before(memory, slot, i, first, own);
            }
            i += 1;
        }
        moved
    }

    /// Moves the key of a slot, number `index` of its group, to its first empty place of the group that begins at `to`, if that comes before
    /// number `end` of its places; whether there was one.
    #[inline(always)]
    fn move_before<M: HeapMemory>(
        self,
        memory: M,
        slot: usize,
        index: u32,
        to: usize,
        end: u32,
    ) -> bool {
        let tag = memory.load(slot);
        let home = (index / BUCKET_SLOTS) ^ tag::side(tag);
        let mut moved = false;
        let mut place = 0;
        while (place < end) & !moved {
            let side = place / BUCKET_SLOTS;
            let bucket = (home ^ side) & (SIDES - 1);
            let free = self.slot(to, bucket * BUCKET_SLOTS + place % BUCKET_SLOTS);
            if memory.load(free) == EMPTY {
                self.move_to(memory, slot, free);
                memory.store(free, tag::at_side(tag, side));
                memory.store(slot, EMPTY);
                moved = true;
            }
            place += 1;
        }
        moved
    }

    /// Copies what a slot holds behind its tag.
    #[inline(always)]
    fn move_to<M: HeapMemory>(self, memory: M, from: usize, to: usize) {
        let (from, to) = (self.key_word(from), self.key_word(to));
        let mut i = 0;
        while i < (stored_words(self.key_words) + self.value_words) as usize {
            memory.store(to + i, memory.load(from + i));
            i += 1;
        }
    }
}
