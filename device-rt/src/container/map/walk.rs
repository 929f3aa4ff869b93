//! Going through the keys of a map, slots first.

use super::cursor::TrieCursor;
use super::flat::{BUCKET_SLOTS, Flat};
use super::table::Table;
use super::{leaf_value, read, tag};
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::abi::{ARG_WORDS, ArgBlock};
use warpheap_api::{DeviceAlloc, HeapData, HeapMemory, select};

/// Where a lane is among its share of the keys. Plain words.
///
/// Buckets are shared out one by one, and what the trie holds by bits of the hash (`cursor.rs`).
#[derive(Clone, Copy, Debug)]
pub struct TableCursor {
    flat: Flat,
    stride: u32,
    bucket: u32,
    /// The slot of the bucket that comes next.
    next: u32,
    /// The word of the tag of the slot that it is at; 0 if it is at none.
    slot: usize,
    tag: u32,
    trie: TrieCursor,
}

impl TableCursor {
    /// Before the first key of share `index` of `count`.
    #[inline(always)]
    pub fn new(table: Table, key_words: u32, value_words: u32, index: u32, count: u32) -> Self {
        let trie = table.trie(key_words, value_words);
        TableCursor {
            flat: table.flat(key_words, value_words),
            stride: count,
            bucket: index,
            next: 0,
            slot: 0,
            tag: tag::EMPTY,
            trie: TrieCursor::new(trie, key_words, index, count),
        }
    }

    /// On to the next key, there or removed; whether there is one.
    #[inline]
    pub fn step<M: HeapMemory>(&mut self, memory: M) -> bool {
        let buckets = self.flat.buckets();
        let mut bucket = self.bucket;
        let mut next = self.next;
        let mut slot = 0;
        let mut seen = tag::EMPTY;
        while (slot == 0) & (bucket < buckets) {
            if next < BUCKET_SLOTS {
                let at = self.flat.slot(bucket, next);
                seen = memory.load(at);
                let state = tag::state(seen);
                if (state == tag::FULL) | (state == tag::DEAD) {
                    slot = at;
                }
                next += 1;
            } else {
                // Without going past the end of the numbers.
                let left = buckets - bucket;
                bucket = select(
                    self.stride < left,
                    bucket.wrapping_add(self.stride),
                    buckets,
                );
                next = 0;
            }
        }
        self.bucket = bucket;
        self.next = next;
        self.slot = slot;
        self.tag = seen;
        let mut found = true;
        if slot == 0 {
            found = self.trie.step(memory);
        }
        // Of a key in a slot, the key; the trie's cursor did so itself.
        memory.acquire();
        found
    }

    /// On to the next key that is there; whether there is one.
    #[inline]
    pub fn step_present<M: HeapMemory>(&mut self, memory: M) -> bool {
        let mut found = false;
        let mut on = true;
        while on {
            on = self.step(memory);
            if on {
                found = self.is_present(memory);
                on = !found;
            }
        }
        // What was done before the key was brought, perhaps anew, is known.
        memory.acquire();
        found
    }

    /// Whether the key is there.
    #[inline(always)]
    fn is_present<M: HeapMemory>(&self, memory: M) -> bool {
        if self.slot == 0 {
            self.trie.is_present(memory)
        } else {
            tag::state(memory.load(self.slot)) == tag::FULL
        }
    }

    /// The word at `index` of the key.
    #[inline(always)]
    pub fn key_word<M: HeapMemory>(&self, memory: M, index: u32) -> u32 {
        if self.is_tag() {
            self.key_of_tag()
        } else {
            memory.read(self.key_begin() + index as usize)
        }
    }

    /// Words of the key.
    #[inline(always)]
    pub fn key_words(&self) -> u32 {
        self.flat.key_words
    }

    /// The key.
    #[inline(always)]
    pub fn key<M: HeapMemory, K: HeapData>(&self, memory: M) -> K {
        if self.is_tag() {
            let block = ArgBlock {
                words: [self.key_of_tag(); ARG_WORDS],
            };
            // SAFETY: a key of one word, whose word this is.
            unsafe { K::from_args(&block, 0) }
        } else {
            K::get(memory, self.key_begin())
        }
    }

    /// The word in which the value begins.
    #[inline(always)]
    pub fn value_word(&self) -> usize {
        if self.slot == 0 {
            leaf_value(self.trie.leaf(), self.flat.key_words)
        } else {
            self.flat.value_word(self.slot)
        }
    }

    /// The value, and 1; `otherwise` and 0 if the key was removed meanwhile.
    #[inline(always)]
    fn value_or<A: DeviceAlloc, V: HeapData>(&self, heap: Heap<A>, otherwise: V) -> (V, u32) {
        if self.slot == 0 {
            read::leaf_or(heap, self.trie.leaf(), self.flat.key_words, otherwise)
        } else {
            read::slot_or(heap, self.flat, self.slot, self.tag, otherwise)
        }
    }

    /// Whether the tag is the key.
    #[inline(always)]
    fn is_tag(&self) -> bool {
        (self.slot != 0) & (self.flat.key_words == 1)
    }

    #[inline(always)]
    fn key_of_tag(&self) -> u32 {
        tag::key_of(self.tag, self.bucket, self.flat.bits)
    }

    #[inline(always)]
    fn key_begin(&self) -> usize {
        if self.slot == 0 {
            self.trie.key_word()
        } else {
            self.flat.key_word(self.slot)
        }
    }
}

/// Where a lane is among its share of a map's keys. Plain words.
#[derive(Debug)]
pub struct MapCursor<K, V> {
    at: TableCursor,
    entries: PhantomData<fn() -> (K, V)>,
}

impl<K, V> Clone for MapCursor<K, V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for MapCursor<K, V> {}

impl<K: HeapData + Copy, V: HeapData + Copy> MapCursor<K, V> {
    #[inline(always)]
    pub(super) fn new(at: TableCursor) -> Self {
        MapCursor {
            at,
            entries: PhantomData,
        }
    }

    /// On to the next key that is there; false if there is none.
    #[inline]
    pub fn advance<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> bool {
        self.at.step_present(heap.memory())
    }

    /// The key. Call it after an [`advance`](Self::advance) that found one.
    #[inline(always)]
    pub fn key<A: DeviceAlloc>(&self, heap: Heap<A>) -> K {
        self.at.key(heap.memory())
    }

    /// The value of the key, `otherwise` if it was removed meanwhile.
    #[inline(always)]
    pub fn value_or<A: DeviceAlloc>(&self, heap: Heap<A>, otherwise: V) -> V {
        self.at.value_or(heap, otherwise).0
    }

    /// The value of the key, for launches in which nobody changes the map: read as it is.
    #[inline(always)]
    pub fn value<A: DeviceAlloc>(&self, heap: Heap<A>) -> V {
        V::get(heap.memory(), self.at.value_word())
    }
}
