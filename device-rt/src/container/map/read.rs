//! Reading values while others change them.

use super::flat::Flat;
use super::table::Table;
use super::words::WordSource;
use super::{leaf, slot, tag};
use crate::Heap;
use crate::container::peek::{Peek, PeekInOrder};
use warpheap_api::{AllocError, DeviceAlloc, HeapData, HeapMemory, select};

/// The value of a key, and 1; `otherwise` and 0 if the key is not there.
#[inline(always)]
pub fn value_or<A: DeviceAlloc, K: WordSource, V: HeapData>(
    heap: Heap<A>,
    table: Table,
    key: K,
    otherwise: V,
) -> (V, u32) {
    let flat = table.flat(heap.memory(), key.words(), V::WORDS);
    let mut answer = (otherwise, 0);
    let mut elsewhere = true;
    if flat.bits != 0 {
        let memory = heap.memory();
        let found = flat.find(memory, key);
        elsewhere = found.elsewhere;
        if found.slot != 0 {
            answer = slot_or(heap, flat, found.slot, found.tag, answer.0);
        }
    }
    if elsewhere {
        let leaf = table
            .trie(heap.memory(), key.words(), V::WORDS)
            .find(heap.memory(), key);
        answer = leaf_or(heap, leaf, key.words(), answer.0);
    }
    answer
}

/// Gives `take` each word of a key's value with its number, perhaps several times: what it had last counts. 1 if the key is
/// there, else 0.
#[inline(always)]
pub fn words<A: DeviceAlloc, K: WordSource>(
    heap: Heap<A>,
    table: Table,
    key: K,
    value_words: u32,
    mut take: impl FnMut(u32, u32),
) -> u32 {
    let flat = table.flat(heap.memory(), key.words(), value_words);
    let mut elsewhere = true;
    let mut there = 0;
    if flat.bits != 0 {
        let found = flat.find(heap.memory(), key);
        elsewhere = found.elsewhere;
        there = (found.slot != 0) as u32;
        if (there != 0) & (value_words == 1) {
            let (word, still) = slot_or(heap, flat, found.slot, found.tag, 0);
            take(0, word);
            there = still;
        }
    }
    if elsewhere {
        let leaf = table
            .trie(heap.memory(), key.words(), value_words)
            .find(heap.memory(), key);
        there = leaf_words(heap, leaf, key.words(), value_words, take);
    }
    there
}

/// The same for a slot whose tag said that the key is there, and was acquired. Looks again while others remove the key and
/// bring it back.
#[inline(always)]
pub fn slot_or<A: DeviceAlloc, V: HeapData>(
    heap: Heap<A>,
    flat: Flat,
    slot: usize,
    tag: u32,
    otherwise: V,
) -> (V, u32) {
    let memory = heap.memory();
    let mut before = tag;
    let mut value = otherwise;
    // 1: it is there; 2: it is not.
    let mut answer = 0;
    let mut round = 0;
    while (answer == 0) & (round < leaf::MOST_ROUNDS) {
        round += 1;
        let found = V::get(PeekInOrder(memory), flat.value_word(slot));
        // A slot that is full again may have been busy meanwhile, and the value not there yet; but it is now.
        let after = memory.load(slot);
        if after == before {
            value = found;
            answer = 1;
        } else if tag::state(after) != tag::FULL {
            answer = 2;
        }
        if answer == 0 {
            memory.acquire();
        }
        before = after;
    }
    if answer == 0 {
        count_contended(heap);
    }
    (value, select(answer == 1, 1, 0))
}

/// The same for a leaf, or for [`slot::EMPTY`].
#[inline(always)]
pub fn leaf_or<A: DeviceAlloc, V: HeapData>(
    heap: Heap<A>,
    leaf: u32,
    key_words: u32,
    otherwise: V,
) -> (V, u32) {
    let memory = heap.memory();
    let state = slot::first_word(memory, leaf);
    let first = leaf::value_word(state, key_words);
    let mut value = otherwise;
    // 1: it is there; 2: it is not.
    let mut answer = select(leaf == slot::EMPTY, 2, 0);
    let mut round = 0;
    while (answer == 0) & (round < leaf::MOST_ROUNDS) {
        round += 1;
        let before = memory.load(state);
        memory.acquire();
        if before & leaf::PRESENT == 0 {
            answer = 2;
        } else if before & leaf::LOCKED == 0 {
            let found = V::get(Peek(memory), first);
            memory.acquire();
            if memory.load(state) == before {
                value = found;
                answer = 1;
            }
        }
        leaf::give_way(before);
    }
    if answer == 0 {
        count_contended(heap);
    }
    (value, select(answer == 1, 1, 0))
}

/// As [`words`], for a leaf or [`slot::EMPTY`].
#[inline(always)]
fn leaf_words<A: DeviceAlloc>(
    heap: Heap<A>,
    leaf: u32,
    key_words: u32,
    value_words: u32,
    mut take: impl FnMut(u32, u32),
) -> u32 {
    let memory = heap.memory();
    let state = slot::first_word(memory, leaf);
    let first = leaf::value_word(state, key_words);
    // 1: it is there; 2: it is not.
    let mut answer = select(leaf == slot::EMPTY, 2, 0);
    let mut round = 0;
    while (answer == 0) & (round < leaf::MOST_ROUNDS) {
        round += 1;
        let before = memory.load(state);
        memory.acquire();
        if before & leaf::PRESENT == 0 {
            answer = 2;
        } else if before & leaf::LOCKED == 0 {
            let mut i = 0;
            while i < value_words {
                take(i, memory.load(first + i as usize));
                i += 1;
            }
            memory.acquire();
            answer = (memory.load(state) == before) as u32;
        }
        leaf::give_way(before);
    }
    if answer == 0 {
        count_contended(heap);
    }
    select(answer == 1, 1, 0)
}

/// Tells the host of a lane that gave up looking.
#[inline(always)]
fn count_contended<A: DeviceAlloc>(heap: Heap<A>) {
    let code = AllocError::Contended.code() as usize;
    // SAFETY: the header's counters are atomic.
    let header = unsafe { heap.allocator() }.header();
    header.fetch_add(warpheap_api::header::WORD_FAILURES + code, 1);
}
