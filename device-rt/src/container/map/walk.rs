//! Going through the keys of a map, slots first.

use super::branch::BRANCH_BITS;
use super::cursor::{MOST_BITS, TrieCursor};
use super::flat::{BUCKET_SLOTS, Flat, GROUP_SLOTS};
use super::level::{Level, way_of};
use super::table::Table;
use super::{leaf_value, read, tag};
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::abi::{ARG_WORDS, ArgBlock};
use warpheap_api::{DeviceAlloc, HeapData, HeapMemory, select};

/// Where a lane is among its share of the keys. Plain words.
///
/// Groups are shared out by bits of the hash: with few shares by those that tell the group of the root, so that one lane has all that hangs
/// below it. With more, by those of the bucket in the group, and by those that branches look at. What the trie holds is shared out in the same
/// way (`cursor.rs`).
#[derive(Clone, Copy, Debug)]
pub struct TableCursor {
    flat: Flat,
    stride: u32,
    /// Bits by which groups are shared out, and how many values they have; none without slots.
    bits: u32,
    limit: u32,
    prefix: u32,
    level: Level,
    /// The slot of the share's part of the group that comes next.
    next: u32,
    /// The number of the bucket of the slot that it is at, counted on in the group of the root.
    bucket: u32,
    /// The word of the tag of the slot that it is at; 0 if it is at none.
    slot: usize,
    tag: u32,
    trie: TrieCursor,
}

impl TableCursor {
    /// Before the first key of share `index` of `count`.
    #[inline(always)]
    pub fn new<M: HeapMemory>(
        memory: M,
        table: Table,
        key_words: u32,
        value_words: u32,
        index: u32,
        count: u32,
    ) -> Self {
        let trie = table.trie(memory, key_words, value_words);
        let flat = table.flat(memory, key_words, value_words);
        let mut level = Level::NONE;
        let mut bits = 0;
        let mut limit = 0;
        if flat.bits != 0 {
            bits = share_bits(flat, count);
            limit = 1 << bits;
            level = first_of(flat, bits, index);
        }
        TableCursor {
            flat,
            stride: count,
            bits,
            limit,
            prefix: index,
            level,
            next: 0,
            bucket: 0,
            slot: 0,
            tag: tag::EMPTY,
            trie: TrieCursor::new(trie, key_words, index, count),
        }
    }

    /// On to the next key, there or removed; whether there is one.
    #[inline]
    pub fn step<M: HeapMemory>(&mut self, memory: M) -> bool {
        let flat = self.flat;
        let whole = self.bits < flat.bits;
        // The bit of the way from which on all is the share's.
        let top = select(whole, flat.bits, self.bits);
        let mut prefix = self.prefix;
        let mut level = self.level;
        let mut next = self.next;
        let mut slot = 0;
        let mut seen = tag::EMPTY;
        let mut bucket = 0;
        while (slot == 0) & (prefix < self.limit) {
            let side = level.way & (tag::SIDES - 1);
            let index = select(whole, next, side * BUCKET_SLOTS + next);
            // A group higher up belongs to that one of its prefixes that ends in zeros.
            let own = level.shift >= top || level.way >> level.shift == 0;
            if own & (next < select(whole, GROUP_SLOTS, BUCKET_SLOTS)) {
                let at = flat.slot(level.first, index);
                seen = memory.load(at);
                let state = tag::state(seen);
                if (state == tag::FULL) | (state == tag::DEAD) {
                    slot = at;
                    let sides = tag::SIDES - 1;
                    bucket = level.way & ((1 << flat.bits) - 1) & !sides | (index / BUCKET_SLOTS);
                }
                next += 1;
            } else {
                level = level.next(flat, memory, top);
                next = 0;
                if level.shift == 0 {
                    // Without going past the end of the numbers.
                    let left = self.limit - prefix;
                    let stride = self.stride;
                    prefix = select(stride < left, prefix.wrapping_add(stride), self.limit);
                    level = first_of(flat, self.bits, prefix);
                }
            }
        }
        self.prefix = prefix;
        self.level = level;
        self.next = next;
        self.bucket = bucket;
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
            memory.read(self.key_begin(memory) + index as usize)
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
            K::get(memory, self.key_begin(memory))
        }
    }

    /// The word in which the value begins.
    #[inline(always)]
    pub fn value_word<M: HeapMemory>(&self, memory: M) -> usize {
        if self.slot == 0 {
            leaf_value(memory, self.trie.leaf(), self.flat.key_words)
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
    fn key_begin<M: HeapMemory>(&self, memory: M) -> usize {
        if self.slot == 0 {
            self.trie.key_word(memory)
        } else {
            self.flat.key_word(self.slot)
        }
    }
}

/// Bits that make at least `count` shares, if there are as many: those of the group of the root, or these with those of the bucket in it, or
/// more.
#[inline(always)]
fn share_bits(flat: Flat, count: u32) -> u32 {
    let mut bits = flat.bits - tag::SIDE_BITS;
    if count > 1 << bits {
        bits = flat.bits;
        while (bits + BRANCH_BITS <= MOST_BITS) & (count > 1 << bits) {
            bits += BRANCH_BITS;
        }
    }
    bits
}

/// The first group on the way of a share.
#[inline(always)]
fn first_of(flat: Flat, bits: u32, prefix: u32) -> Level {
    let mut way = way_of(prefix);
    if bits >= flat.bits {
        // Behind the bits of the group come those of the bucket in it.
        let bucket = bits_below(prefix, flat.bits);
        let group = bits_below(prefix, flat.bits - tag::SIDE_BITS);
        let side = bucket >> (flat.bits - tag::SIDE_BITS);
        way = (prefix ^ bucket) | (group << tag::SIDE_BITS) | side;
    }
    Level::root(flat, way)
}

/// The first `bits` bits.
#[inline(always)]
fn bits_below(word: u32, bits: u32) -> u32 {
    word & ((1 << bits) - 1)
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
        V::get(heap.memory(), self.at.value_word(heap.memory()))
    }
}
