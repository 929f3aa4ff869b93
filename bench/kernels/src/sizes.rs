//! Blocks whose sizes change: some of them go, and as many of other sizes come.

use crate::churn::{DAMAGED, FAILED, FREED, add, add_together};
use crate::pattern::{ENDS, damage, words_of, write};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Sizes that a slot's blocks have one after the other.
pub const KINDS: u32 = 7;

/// The size of a block of this kind, in bytes: far apart, and hardly any of them what an allocator rounds to.
#[inline(always)]
pub const fn size_of_kind(kind: u32) -> u32 {
    match kind {
        0 => 24,
        1 => 40,
        2 => 72,
        3 => 1050,
        4 => 4100,
        5 => 12_345,
        _ => 100_000,
    }
}

/// The kind of the first block of slot `slot`.
#[inline(always)]
pub fn first_kind(slot: u32) -> u32 {
    hash(slot) % KINDS
}

/// Each lane checks and frees the block in its slot if a hash of slot and round is a multiple of `every`.
#[kernel(allocators = all, unsafe(slices))]
pub fn leave<A: DeviceAlloc>(
    heap: Heap<A>,
    slots: &mut [DevicePtr<u8>],
    kinds: &[u32],
    counts: &[AtomicWord],
    round: u32,
    every: u32,
) {
    let i = thread::index() as usize;
    if i < slots.len() && kinds.len() >= slots.len() {
        let old = slots[i];
        let mut freed = 0;
        if !old.is_null() && hash(i as u32 ^ hash(round)) % (every | (every == 0) as u32) == 0 {
            let size = size_of_kind(kinds[i]);
            add(
                counts,
                DAMAGED,
                damage(heap, old, words_of(size), i as u32, ENDS),
            );
            // SAFETY: the slot's block, of this size, that is forgotten below.
            unsafe { heap.free(old, layout::bytes(size as usize)) };
            slots[i] = DevicePtr::NULL;
            freed = 1;
        }
        add_together(counts, FREED, freed);
    }
}

/// Each lane whose slot is empty allocates a block of the next kind and writes its ends.
#[kernel(allocators = all, unsafe(slices))]
pub fn enter<A: DeviceAlloc>(
    heap: Heap<A>,
    slots: &mut [DevicePtr<u8>],
    kinds: &mut [u32],
    counts: &[AtomicWord],
) {
    let i = thread::index() as usize;
    if i < slots.len() && kinds.len() >= slots.len() {
        let mut failed = 0;
        if slots[i].is_null() {
            let kind = (kinds[i] + 1) % KINDS;
            let size = size_of_kind(kind);
            kinds[i] = kind;
            match heap.malloc(layout::bytes(size as usize)) {
                Ok(new) => {
                    write(heap, new, 0, words_of(size), i as u32, ENDS);
                    slots[i] = new;
                }
                Err(_) => failed = 1,
            }
        }
        add_together(counts, FAILED, failed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_some_slots_first() {
        let mut slots = [0; KINDS as usize];
        (0..7000).for_each(|slot| slots[first_kind(slot) as usize] += 1);
        assert!(slots.iter().all(|&slots| slots > 800), "{slots:?}");
    }
}
