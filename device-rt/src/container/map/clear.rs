//! Taking a map apart and putting it in order, where nobody else uses it.

use super::branch::{self, BRANCH_BITS, GROUPS, is_branch};
use super::cursor::{MOST_BITS, TrieCursor, share_bits};
use super::flat::{Flat, GROUP_SLOTS};
use super::level::{Level, way_of};
use super::path::{DIGIT_BITS, NODE_SLOTS, Path};
use super::slot::{EMPTY, NODE_LAYOUT, block, first_in, first_word, is_node, key_of, leaf_layout};
use super::table::Table;
use super::tag::SIDE_BITS;
use super::trie::Trie;
use crate::Heap;
use warpheap_api::{DeviceAlloc, HeapMemory, least, select};

/// Slots, and the trie behind them.
impl Table {
    /// Takes all keys of share `index` of `count` out, and frees the memory that they have beside the root.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn free_part<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key_words: u32,
        value_words: u32,
        index: u32,
        count: u32,
    ) {
        let flat = self.flat(heap.memory(), key_words, value_words);
        if flat.bits != 0 {
            // SAFETY: the caller's promise.
            unsafe { flat.free_part(heap, index, count) };
        }
        let trie = self.trie(heap.memory(), key_words, value_words);
        // SAFETY: the caller's promise.
        unsafe { trie.free_part(heap, key_words, value_words, index, count) };
    }

    /// Gives the memory of removed keys of share `index` of `count` back: slots to other keys, the rest to the heap. With slots
    /// there is work for [`most_shares`](Self::most_shares).
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn tidy_part<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key_words: u32,
        value_words: u32,
        index: u32,
        count: u32,
    ) {
        let flat = self.flat(heap.memory(), key_words, value_words);
        let trie = self.trie(heap.memory(), key_words, value_words);
        let mut shares = count;
        if flat.bits != 0 {
            // A group and the leaves of its keys are one lane's.
            let slots = self.most_shares(value_words);
            shares = least(count, slots);
            let mut prefix = select(index < shares, index, slots);
            while prefix < slots {
                // SAFETY: the caller's promise.
                unsafe { flat.tidy_below(heap, trie, prefix) };
                let left = slots - prefix;
                prefix = select(shares < left, prefix.wrapping_add(shares), slots);
            }
        }
        let index = select(index < shares, index, u32::MAX);
        // SAFETY: the caller's promise.
        unsafe { trie.tidy_part(heap, key_words, value_words, index, shares) };
    }

    /// Frees the root; there is no map afterwards.
    ///
    /// # Safety
    /// Nobody uses the map any more, also by a copy of this handle, and it is of this heap.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>, key_words: u32, value_words: u32) {
        if !self.is_none() {
            let layout = Self::root_layout(self.root_bits(), key_words, value_words);
            // SAFETY: the root is the map's, and got with this layout.
            unsafe { heap.free(self.root().cast(), layout) };
        }
        *self = Self::NONE;
    }
}

/// Groups and branches.
impl Flat {
    /// Makes all groups of share `index` of `count` empty, and frees the branches below those to which as many bits of the way lead as
    /// make so many shares.
    ///
    /// # Safety
    /// As [`Table::free_part`].
    #[inline(always)]
    unsafe fn free_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        let memory = heap.memory();
        let mut bits = self.bits - SIDE_BITS;
        while (bits + BRANCH_BITS + SIDE_BITS <= MOST_BITS) & (count > 1 << bits) {
            bits += BRANCH_BITS;
        }
        let (top, limit) = (bits + SIDE_BITS, 1 << bits);
        let mut prefix = index;
        while prefix < limit {
            let mut level = Level::root(self, way_of(prefix));
            let mut on = true;
            while on {
                // A group higher up belongs to that one of its prefixes that ends in zeros.
                if level.shift >= top || level.way >> level.shift == 0 {
                    let mut slot = 0;
                    while slot < GROUP_SLOTS {
                        memory.store(self.slot(level.first, slot), EMPTY);
                        slot += 1;
                    }
                }
                on = level.shift < top;
                if on {
                    level.link = memory.load(level.link_at(self, memory));
                    on = is_branch(level.link);
                    if on {
                        level = level.below(self, memory);
                    }
                } else {
                    // SAFETY: the caller's promise.
                    unsafe { self.free_below(heap, level.link_at(self, memory)) };
                }
            }
            // Without going past the end of the numbers.
            let left = limit - prefix;
            prefix = select(count < left, prefix.wrapping_add(count), limit);
        }
    }

    /// Frees all branches below a link.
    ///
    /// # Safety
    /// Nobody else uses what hangs there in this launch, and it is of this heap.
    #[inline(always)]
    unsafe fn free_below<A: DeviceAlloc>(self, heap: Heap<A>, link_at: usize) {
        let memory = heap.memory();
        while is_branch(memory.load(link_at)) {
            let lowest = lowest(memory, link_at);
            // SAFETY: nothing hangs below it, and the caller's promise.
            unsafe { self.free_branch(heap, lowest) };
        }
        memory.store(link_at, EMPTY);
    }

    /// Frees the branch at a link, in which no key is.
    ///
    /// # Safety
    /// As [`free_below`](Self::free_below), and nothing hangs below the branch.
    #[inline(always)]
    pub unsafe fn free_branch<A: DeviceAlloc>(self, heap: Heap<A>, link_at: usize) {
        let memory = heap.memory();
        let branch = memory.load(link_at);
        memory.store(link_at, EMPTY);
        // SAFETY: the block was the map's, and is reached from nowhere now.
        unsafe { heap.free(block(branch), branch::branch_layout(self.group_words())) };
    }
}

/// The link, at this one or below it, at which a branch hangs that has none below. There is one at this.
#[inline(always)]
pub fn lowest<M: HeapMemory>(memory: M, link_at: usize) -> usize {
    let mut at = link_at;
    let mut on = true;
    while on {
        let below = first_link(memory, memory.load(at));
        on = below != 0;
        if on {
            at = below;
        }
    }
    at
}

/// The first link of a branch's groups at which another one hangs; 0 if there is none.
#[inline(always)]
pub fn first_link<M: HeapMemory>(memory: M, branch: u32) -> usize {
    let mut found = 0;
    let mut digit = 0;
    while (digit < GROUPS) & (found == 0) {
        let at = branch::header(memory, branch, digit);
        if is_branch(memory.load(at)) {
            found = at;
        }
        digit += 1;
    }
    found
}

/// Leaves and nodes.
impl Trie {
    /// Frees all leaves of share `index` of `count`, and the nodes below the slots of the share.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn free_part<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key_words: u32,
        value_words: u32,
        index: u32,
        count: u32,
    ) {
        let memory = heap.memory();
        let bits = share_bits(self, count);
        let limit = 1 << bits;
        let mut prefix = select(self.is_none(), limit, index);
        while prefix < limit {
            let mut top = self.root_slot(memory, prefix);
            let mut seen = memory.load(top);
            let mut shift = self.root_bits;
            while is_node(seen) & (shift < bits) {
                let digit = (prefix >> shift) & (NODE_SLOTS - 1);
                top = first_word(memory, seen) + digit as usize;
                seen = memory.load(top);
                shift += DIGIT_BITS;
            }
            // A slot higher up belongs to that one of its prefixes that ends in zeros.
            let own = (shift >= bits) | (prefix >> shift == 0);
            // Down to the first leaf or to a node without any, which is freed, and again from the top.
            let mut at = top;
            seen = select(own, seen, EMPTY);
            while seen != EMPTY {
                let below = first_slot_in_use(memory, seen);
                if is_node(seen) & (below < NODE_SLOTS) {
                    at = first_word(memory, seen) + below as usize;
                } else {
                    memory.store(at, EMPTY);
                    let layout = if is_node(seen) {
                        NODE_LAYOUT
                    } else {
                        leaf_layout(key_words, value_words)
                    };
                    // SAFETY: the block was the map's, and is reached from nowhere now.
                    unsafe { heap.free(block(seen), layout) };
                    at = top;
                }
                seen = memory.load(at);
            }
            let left = limit - prefix;
            prefix = select(count < left, prefix.wrapping_add(count), limit);
        }
    }

    /// Frees the leaves of share `index` of `count` whose keys were removed, and nodes without leaves.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn tidy_part<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key_words: u32,
        value_words: u32,
        index: u32,
        count: u32,
    ) {
        let memory = heap.memory();
        let mut cursor = TrieCursor::new(self, key_words, index, count);
        let mut on = cursor.step(memory);
        while on {
            let leaf = cursor.leaf();
            let dead = !cursor.is_present(memory);
            // On before the leaf is gone.
            on = cursor.step(memory);
            if dead && self.unhang(heap, key_words, leaf, cursor.bits()) {
                let layout = leaf_layout(key_words, value_words);
                // SAFETY: the block was the map's, and is reached from nowhere now.
                unsafe { heap.free(block(leaf), layout) };
            }
        }
    }

    /// Takes a leaf out, and nodes that hold nothing then. False if it stays: in nodes that other
    /// lanes go through no slot of a share becomes empty, so that no node does.
    #[inline(always)]
    fn unhang<A: DeviceAlloc>(self, heap: Heap<A>, key_words: u32, leaf: u32, bits: u32) -> bool {
        let memory = heap.memory();
        let key = key_of(memory, leaf, key_words);
        let alone = bits == self.root_bits;
        let mut gone = false;
        let mut on = true;
        while on {
            // Down to the leaf, or to the slot that it was freed from: the slot, the node that it lies in, and the
            // slot of that.
            let mut path = Path::begin(key, self.root_bits);
            let mut used = self.root_bits;
            let mut at = self.root_slot(memory, path.hash());
            let mut seen = memory.load(at);
            let mut node = EMPTY;
            let mut node_at = at;
            while is_node(seen) {
                path = path.ready(key);
                node = seen;
                node_at = at;
                at = first_word(memory, seen) + path.digit() as usize;
                path = path.passed();
                seen = memory.load(at);
                used += DIGIT_BITS;
            }
            if used > bits {
                // In a node of this share.
                memory.store(at, EMPTY);
                gone = true;
                on = first_in(memory, node, 0) == EMPTY;
                if on {
                    // The slot of the share is that of the node.
                    let stays = (used - DIGIT_BITS == bits) & !alone;
                    memory.store(node_at, select(stays, leaf, EMPTY));
                    // SAFETY: the node was the map's, and is reached from nowhere now.
                    unsafe { heap.free(block(node), NODE_LAYOUT) };
                    gone = !stays;
                    on = !stays;
                }
            } else {
                if alone & (seen != EMPTY) {
                    memory.store(at, EMPTY);
                    gone = true;
                }
                on = false;
            }
        }
        gone
    }
}

/// The index of the first slot of a node that is not empty, [`NODE_SLOTS`] if there is none; 0 for a leaf.
#[inline(always)]
fn first_slot_in_use<M: HeapMemory>(memory: M, slot: u32) -> u32 {
    let mut index = 0;
    if is_node(slot) {
        while (index < NODE_SLOTS)
            && memory.load(first_word(memory, slot) + index as usize) == EMPTY
        {
            index += 1;
        }
    }
    index
}
