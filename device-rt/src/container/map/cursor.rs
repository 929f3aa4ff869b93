//! Going through the leaves of a trie, lanes side by side.

use super::leaf;
use super::path::{DIGIT_BITS, MOST_NODES, Path};
use super::slot::{EMPTY, first_in, first_word, is_node, key_of};
use super::trie::Trie;
use warpheap_api::{HeapMemory, select};

/// Most bits of the hash by which keys are shared out.
pub const MOST_BITS: u32 = 30;

/// Where a lane is among its share of the leaves. Plain words.
///
/// Keys are shared out by the first `bits` bits of their hash, as many as make enough shares: the root's, and
/// those of some nodes below it. A share is those whose bits are the lane's index, or that and a multiple
/// of the number of lanes.
#[derive(Clone, Copy, Debug)]
pub struct TrieCursor {
    trie: Trie,
    key_words: u32,
    bits: u32,
    stride: u32,
    prefix: u32,
    leaf: u32,
}

impl TrieCursor {
    /// Before the first leaf of share `index` of `count`.
    #[inline(always)]
    pub fn new(trie: Trie, key_words: u32, index: u32, count: u32) -> Self {
        let bits = share_bits(trie, count);
        TrieCursor {
            trie,
            key_words,
            bits,
            stride: count,
            // Without a map there are no prefixes to go through.
            prefix: select(trie.is_none(), 1 << bits, index),
            leaf: EMPTY,
        }
    }

    /// The leaf; 0 before the first and behind the last.
    #[inline(always)]
    pub fn leaf(&self) -> u32 {
        self.leaf
    }

    /// Bits of the hash by which keys are shared out.
    #[inline(always)]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The word in which the leaf's key begins; the value follows it.
    #[inline(always)]
    pub fn key_word<M: HeapMemory>(&self, memory: M) -> usize {
        first_word(memory, self.leaf) + 1
    }

    /// Whether the key of the leaf is there.
    #[inline(always)]
    pub fn is_present<M: HeapMemory>(&self, memory: M) -> bool {
        leaf::is_present(memory, self.leaf)
    }

    /// On to the next leaf, dead or alive; whether there is one.
    #[inline]
    pub fn step<M: HeapMemory>(&mut self, memory: M) -> bool {
        let limit = 1 << self.bits;
        let mut prefix = self.prefix;
        let mut leaf = self.leaf;
        let mut on = true;
        while on & (prefix < limit) {
            leaf = self.after(memory, prefix, leaf);
            on = leaf == EMPTY;
            if on {
                // Without going past the end of the numbers.
                let left = limit - prefix;
                prefix = select(self.stride < left, prefix.wrapping_add(self.stride), limit);
            }
        }
        self.prefix = prefix;
        self.leaf = leaf;
        !on
    }

    /// The first leaf after `leaf`, or the first of all, under the slot to which a prefix leads.
    #[inline(always)]
    fn after<M: HeapMemory>(&self, memory: M, prefix: u32, leaf: u32) -> u32 {
        let mut seen = memory.load(self.trie.root_slot(memory, prefix));
        memory.acquire();
        let mut shift = self.trie.root_bits;
        while is_node(seen) & (shift < self.bits) {
            let digit = (prefix >> shift) & ((1 << DIGIT_BITS) - 1);
            seen = memory.load(first_word(memory, seen) + digit as usize);
            memory.acquire();
            shift += DIGIT_BITS;
        }
        let mut next = seen;
        if is_node(seen) & (leaf != EMPTY) {
            // Down the way of this leaf, keeping what comes after it in the lowest node.
            let key = key_of(memory, leaf, self.key_words);
            let mut path = Path::begin(key, shift);
            next = EMPTY;
            let mut nodes = 0;
            while is_node(seen) & (nodes < MOST_NODES) {
                path = path.ready(key);
                let digit = path.digit();
                let later = first_in(memory, seen, digit + 1);
                next = select(later != EMPTY, later, next);
                seen = memory.load(first_word(memory, seen) + digit as usize);
                memory.acquire();
                path = path.passed();
                nodes += 1;
            }
        } else if leaf != EMPTY {
            next = EMPTY;
        } else if (shift < self.bits) & (seen != EMPTY) {
            // A leaf higher up, which several prefixes lead to: it is that one's whose bits it has.
            let key = key_of(memory, seen, self.key_words);
            let own = Path::begin(key, 0).hash() & ((1 << self.bits) - 1);
            next = select(own == prefix, seen, EMPTY);
        }
        // The first leaf from there. No node is without one.
        let mut nodes = 0;
        while is_node(next) & (nodes < MOST_NODES) {
            next = first_in(memory, next, 0);
            memory.acquire();
            nodes += 1;
        }
        next
    }
}

/// Bits of the hash that make at least `count` shares, if there are as many.
#[inline(always)]
pub fn share_bits(trie: Trie, count: u32) -> u32 {
    let mut bits = trie.root_bits;
    while (bits + DIGIT_BITS <= MOST_BITS) & (count > 1 << bits) {
        bits += DIGIT_BITS;
    }
    bits
}
