//! Whether blocks that were handed out overlap: every lane marks its own, then looks whether its marks
//! are still there.
//!
//! One word of each granule is marked. A block begins at a granule, so two blocks that share a byte
//! share a granule, whose mark the later writer took from the other.

use crate::mix::Mix;
use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

/// Count of lanes without a block.
pub const MISSING: usize = 0;
/// Count of blocks that are not inside the heap, or on its header.
pub const OUTSIDE: usize = 1;
/// Count of blocks of which at least one mark is gone.
pub const OVERWRITTEN: usize = 2;
/// Number of the counts.
pub const COUNTS: usize = 3;

/// Lane `i` writes `seed + i` to every granule of `blocks[i]`, which is request `i` of `mix`.
#[kernel(allocators = all)]
pub fn mark<A: DeviceAlloc>(heap: Heap<A>, blocks: &[DevicePtr<u8>], mix: Mix, seed: u32) {
    let i = thread::index() as usize;
    if i < blocks.len() {
        let block = blocks[i];
        let granules = granules(mix.size(i as u32));
        if !block.is_null() && is_inside(heap, block, granules) {
            for g in 0..granules {
                let at = heap.word_of(block) + g as usize * 4;
                // SAFETY: the words are those of live blocks that the lane has.
                unsafe { heap.words() }.write(at, seed.wrapping_add(i as u32));
            }
        }
    }
}

/// Counts in `counts` what is wrong with `blocks`, which `mark` marked with the same `mix` and `seed`.
#[kernel(allocators = all)]
pub fn verify<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &[DevicePtr<u8>],
    counts: &[AtomicWord],
    mix: Mix,
    seed: u32,
) {
    let i = thread::index() as usize;
    if i < blocks.len() && counts.len() >= COUNTS {
        let block = blocks[i];
        let granules = granules(mix.size(i as u32));
        if block.is_null() {
            counts[MISSING].fetch_add(1);
        } else if !is_inside(heap, block, granules) {
            counts[OUTSIDE].fetch_add(1);
        } else {
            let mut gone = 0;
            for g in 0..granules {
                let at = heap.word_of(block) + g as usize * 4;
                // SAFETY: the words are those of live blocks that the lane has.
                if unsafe { heap.words() }.read(at) != seed.wrapping_add(i as u32) {
                    gone = 1;
                }
            }
            if gone != 0 {
                counts[OVERWRITTEN].fetch_add(1);
            }
        }
    }
}

#[inline(always)]
fn granules(size: u32) -> u32 {
    layout::granules(layout::bytes(size as usize))
}

/// Whether a block of so many granules lies behind the header and before the end of the heap.
#[inline(always)]
fn is_inside<A: DeviceAlloc>(heap: Heap<A>, block: DevicePtr<u8>, granules: u32) -> bool {
    let first = block.granule();
    // SAFETY: the words are those of live blocks that the lane has.
    let end = (unsafe { heap.words() }.len() / 4) as u32;
    first >= (warpheap_rt::api::header::HEADER_WORDS / 4) as u32
        && first < end
        && granules <= end - first
}
