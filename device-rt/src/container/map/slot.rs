//! What a slot of the root or of a node says, and the blocks behind it.

use super::path::NODE_SLOTS;
use super::words::{Stored, WordSource};
use warpheap_api::{DevicePtr, HeapMemory, Layout, layout};

/// A slot in which nothing hangs.
pub const EMPTY: u32 = 0;
/// Set in a slot in which a node hangs; without it, and unless it is [`EMPTY`], a leaf does. The rest is the
/// block's granule and one.
pub const NODE: u32 = 1 << 31;

/// The layout of a node.
pub const NODE_LAYOUT: Layout = layout::aligned(NODE_SLOTS as usize * 4, NODE_SLOTS as usize * 4);

/// Whether a node hangs in a slot.
#[inline(always)]
pub fn is_node(slot: u32) -> bool {
    slot & NODE != 0
}

/// What a slot says in which this block hangs as a leaf.
#[inline(always)]
pub fn slot_of(block: DevicePtr<u8>) -> u32 {
    block.granule() + 1
}

/// The block behind a slot that is not empty.
#[inline(always)]
pub fn block(slot: u32) -> DevicePtr<u8> {
    DevicePtr::from_granule((slot & !NODE).wrapping_sub(1))
}

/// The first word of the block: a node's first slot, a leaf's state.
#[inline(always)]
pub fn first_word<M: HeapMemory>(memory: M, slot: u32) -> usize {
    memory.word_of(block(slot))
}

/// The layout of a leaf: its state, the key, the value.
#[inline(always)]
pub const fn leaf_layout(key_words: u32, value_words: u32) -> Layout {
    layout::bytes((1 + key_words as usize + value_words as usize) * 4)
}

/// The key of a leaf.
#[inline(always)]
pub fn key_of<M: HeapMemory>(memory: M, leaf: u32, words: u32) -> Stored<M> {
    Stored {
        memory,
        first: first_word(memory, leaf) + 1,
        count: words,
    }
}

/// Whether a leaf has this key.
#[inline(always)]
pub fn has_key<M: HeapMemory, K: WordSource>(memory: M, leaf: u32, key: K) -> bool {
    let stored = key_of(memory, leaf, key.words());
    let mut differs = 0;
    let mut i = 0;
    while i < key.words() {
        differs |= stored.word(i) ^ key.word(i);
        i += 1;
    }
    differs == 0
}

/// What the first slot of a node says that is not empty, from slot `from` on; [`EMPTY`] if there is none.
#[inline(always)]
pub fn first_in<M: HeapMemory>(memory: M, node: u32, from: u32) -> u32 {
    let mut found = EMPTY;
    let mut i = from;
    while (i < NODE_SLOTS) & (found == EMPTY) {
        found = memory.load(first_word(memory, node) + i as usize);
        i += 1;
    }
    found
}
