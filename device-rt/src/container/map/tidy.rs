//! Giving the slots of removed keys back, where nobody else uses the map.
//!
//! The 32 places of a key are the slots of eight buckets side by side, a group; keys of other groups have none of them. So a
//! group is put in order by itself: dead slots become empty, keys of the trie come back to them, and keys move to the
//! first empty place that they have, since a search ends at one.

use super::cursor::TrieCursor;
use super::flat::{BUCKET_SLOTS, Entered, Flat, GROUP_SLOTS, stored_words};
use super::tag::{self, EMPTY, FULL, SIDES};
use super::trie::Trie;
use super::words::Stored;
use super::{leaf, leaf_value};
use warpheap_api::HeapMemory;

impl Flat {
    /// Puts the groups in order whose keys the trie has, if at all, under this slot of its root.
    #[inline(always)]
    pub fn tidy_below<M: HeapMemory>(self, memory: M, trie: Trie, prefix: u32) {
        let slots = 1 << trie.root_bits;
        let groups = self.buckets() / SIDES;
        let mut group = prefix;
        while group < groups {
            self.empty_dead(memory, group);
            group += slots;
        }
        self.take_back(memory, trie, prefix);
        let mut group = prefix;
        while group < groups {
            while self.move_forward(memory, group) {}
            group += slots;
        }
    }

    /// Makes slots of a group empty that no key is in.
    #[inline(always)]
    fn empty_dead<M: HeapMemory>(self, memory: M, group: u32) {
        let mut i = 0;
        while i < GROUP_SLOTS {
            let slot = self.slot_of_group(group, i);
            if tag::state(memory.load(slot)) != FULL {
                memory.store(slot, EMPTY);
            }
            i += 1;
        }
    }

    /// Brings keys from under a slot of the trie's root back to slots, as far as there is room; their leaves are dead then.
    #[inline(always)]
    fn take_back<M: HeapMemory>(self, memory: M, trie: Trie, prefix: u32) {
        let mut cursor = TrieCursor::new(trie, self.key_words, prefix, 1 << trie.root_bits);
        while cursor.step(memory) {
            if cursor.is_present(memory) {
                let key = Stored {
                    memory,
                    first: cursor.key_word(),
                    count: self.key_words,
                };
                let value = Stored {
                    memory,
                    first: leaf_value(cursor.leaf(), self.key_words),
                    count: self.value_words,
                };
                if self.enter(memory, key, value).how == Entered::NEW {
                    leaf::kill(memory, cursor.leaf());
                }
            }
        }
    }

    /// Moves keys of a group to an empty place that comes before theirs; whether there was one.
    #[inline(always)]
    fn move_forward<M: HeapMemory>(self, memory: M, group: u32) -> bool {
        let mut moved = false;
        let mut i = 0;
        while i < GROUP_SLOTS {
            let slot = self.slot_of_group(group, i);
            let tag = memory.load(slot);
            if tag::state(tag) == FULL {
                let side = tag::side(tag);
                let home = (group * SIDES + i / BUCKET_SLOTS) ^ side;
                let own = side * BUCKET_SLOTS + i % BUCKET_SLOTS;
                let mut place = 0;
                while place < own {
                    let to = self.slot(home ^ (place / BUCKET_SLOTS), place % BUCKET_SLOTS);
                    if memory.load(to) == EMPTY {
                        self.move_to(memory, slot, to);
                        memory.store(to, tag::at_side(tag, place / BUCKET_SLOTS));
                        memory.store(slot, EMPTY);
                        moved = true;
                        place = own;
                    }
                    place += 1;
                }
            }
            i += 1;
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

    /// The word of the tag of slot `index` of a group.
    #[inline(always)]
    fn slot_of_group(self, group: u32, index: u32) -> usize {
        let bucket = group * SIDES + index / BUCKET_SLOTS;
        self.slot(bucket, index % BUCKET_SLOTS)
    }
}
