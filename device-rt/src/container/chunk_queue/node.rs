//! A node: counters, the node after it, and slots that are used once.

use super::super::block::block_layout;
use crate::Heap;
use warpheap_api::{DeviceAlloc, HeapData, HeapMemory, Layout};

/// Slots of a node that were handed to those who push, more than there are in a full one.
pub(crate) const PUSHED: usize = 0;
/// The node after this one, 0 for none.
pub(crate) const NEXT: usize = 1;
/// Slots of a node that were handed to those who pop.
pub(crate) const POPPED: usize = 32;
/// Words before a node's slots.
pub(crate) const HEADER: usize = 36;

/// States of a slot, in its first word; the element is behind it. Each slot is used once.
pub(super) const EMPTY: u32 = 0;
pub(crate) const FULL: u32 = 1;
pub(super) const TAKEN: u32 = 2;

/// Makes a block a node of empty slots, of which the first `promised` are handed out.
#[inline(always)]
pub(super) fn clear_node<T: HeapData, A: DeviceAlloc>(
    heap: Heap<A>,
    at: usize,
    log2: u32,
    promised: u32,
) {
    let words = heap.memory();
    words.write(at + PUSHED, promised);
    words.write(at + NEXT, 0);
    words.write(at + POPPED, 0);
    let mut index = 0;
    while index < 1 << log2 {
        words.write(slot::<T>(at, index), EMPTY);
        index += 1;
    }
}

/// The word of a slot: its state, behind which the element lies.
#[inline(always)]
pub(crate) const fn slot<T: HeapData>(at: usize, index: u32) -> usize {
    at + HEADER + index as usize * (1 + T::WORDS as usize)
}

#[inline(always)]
pub(crate) const fn node_layout<T: HeapData>(log2: u32) -> Layout {
    block_layout(HEADER as u32, 1 << log2, 1 + T::WORDS)
}
