//! What a root holds, by its size and the widths of keys and values: slots, links, and the root of a trie.

use super::branch;
use super::flat::{Flat, GROUP_SLOTS};
use super::slot::{NODE_LAYOUT, leaf_layout};
use super::table::Table;
use super::tag;
use super::trie::Trie;
use warpheap_api::{Layout, layout};

/// The smallest size of a root with slots: below, a tag would not have room for the rest of the hash.
const FIRST_BITS: u32 = tag::OWN_BITS + 1;
/// A group of slots is for so many keys, as a power of two. For each there is a link, and a slot of the trie.
const GROUP_BITS: u32 = 4;
/// Alignment of a root: a line of every cache.
const ALIGN: usize = 128;
/// The largest root, as a power of two of bytes.
const MOST_BYTES_BITS: u32 = if usize::BITS > 32 { 35 } else { 31 };

/// Whether a root has slots.
#[inline(always)]
pub(super) const fn has_slots(root_bits: u32, value_words: u32) -> bool {
    root_bits >= FIRST_BITS && value_words <= 1
}

/// Words of the slots of a root and of their links.
#[inline(always)]
pub(super) const fn slots_words(root_bits: u32, key_words: u32, value_words: u32) -> usize {
    if has_slots(root_bits, value_words) {
        let slots = (Flat::slot_words(key_words, value_words) as usize) << (root_bits + 1);
        slots + (1 << (root_bits - GROUP_BITS))
    } else {
        0
    }
}

/// Bits of the hash that the root of the trie looks at.
#[inline(always)]
pub(super) const fn trie_bits(root_bits: u32, value_words: u32) -> u32 {
    if has_slots(root_bits, value_words) {
        root_bits - GROUP_BITS
    } else {
        root_bits
    }
}

impl Table {
    /// The layout of a root for about `2^root_bits` keys; one that no heap serves if that is too many.
    #[inline(always)]
    pub const fn root_layout(root_bits: u32, key_words: u32, value_words: u32) -> Layout {
        let trie = trie_bits(root_bits, value_words);
        if !has_slots(root_bits, value_words) {
            return Trie::root_layout(trie);
        }
        // The slots' words, their number doubled for links and trie, and their bytes.
        let slot_bits = 32 - Flat::slot_words(key_words, value_words).leading_zeros();
        if root_bits + 1 + slot_bits + 3 > MOST_BYTES_BITS {
            return layout::bytes(layout::ABSURD);
        }
        let words = slots_words(root_bits, key_words, value_words) + (1 << trie);
        layout::aligned(words * 4, ALIGN)
    }

    /// The layout of the blocks by which a map grows: 32 bytes and 32 slots for each of the four groups of a branch. Maps with
    /// values of several words take nodes and leaves instead, of which this is the larger.
    #[inline(always)]
    pub const fn growth_layout(key_words: u32, value_words: u32) -> Layout {
        if value_words <= 1 {
            let slot_words = Flat::slot_words(key_words, value_words);
            return branch::branch_layout((slot_words * GROUP_SLOTS) as usize);
        }
        let leaf = leaf_layout(key_words, value_words);
        if leaf.size() > NODE_LAYOUT.size() {
            leaf
        } else {
            NODE_LAYOUT
        }
    }
}
