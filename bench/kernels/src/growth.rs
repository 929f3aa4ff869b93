//! Blocks and vectors that grow.

use crate::churn::{DAMAGED, add};
use crate::pattern::{damage, word, words_of, write};
use warpheap_rt::device::*;

/// Each of `lanes` lanes allocates `least` bytes, a multiple of 4, and reallocates the block to twice
/// the size `doublings` times. Every word is written, and checked at the end. Then the block is freed.
#[kernel(allocators = all)]
pub fn grow_block<A: DeviceAlloc>(
    heap: Heap<A>,
    counts: &[AtomicWord],
    lanes: u32,
    least: u32,
    doublings: u32,
) -> Result<(), AllocError> {
    let lane = thread::index();
    if lane >= lanes {
        return Ok(());
    }
    let mut size = least;
    let mut block = heap.malloc(layout::bytes(size as usize))?;
    write(heap, block, 0, words_of(size), lane, 1);
    let mut result = Ok(());
    for _ in 0..doublings {
        if result.is_ok() {
            let old = layout::bytes(size as usize);
            // SAFETY: the lane's own block, of this layout.
            match unsafe { heap.realloc(block, old, size as usize * 2) } {
                Ok(moved) => {
                    block = moved;
                    write(heap, block, words_of(size), words_of(size * 2), lane, 1);
                    size *= 2;
                }
                Err(error) => result = Err(error),
            }
        }
    }
    add(
        counts,
        DAMAGED,
        damage(heap, block, words_of(size), lane, 1),
    );
    // SAFETY: the lane's own block, of this layout.
    unsafe { heap.free(block, layout::bytes(size as usize)) };
    result
}

/// Each of `lanes` lanes pushes `elements` words to a vector, checks them, and frees it.
#[kernel(allocators = all)]
pub fn grow_vector<A: DeviceAlloc>(
    heap: Heap<A>,
    counts: &[AtomicWord],
    lanes: u32,
    elements: u32,
) -> Result<(), AllocError> {
    let lane = thread::index();
    if lane >= lanes {
        return Ok(());
    }
    let mut list = HeapVec::<u32>::new();
    let mut result = Ok(());
    for k in 0..elements {
        if result.is_ok() {
            result = list.push(heap, word(lane, k));
        }
    }
    let mut wrong = 0;
    for k in 0..list.len() {
        // SAFETY: the index is less than the length.
        wrong |= unsafe { list.get_unchecked(heap, k) } ^ word(lane, k);
    }
    add(counts, DAMAGED, (wrong != 0) as u32);
    list.free(heap);
    result
}
