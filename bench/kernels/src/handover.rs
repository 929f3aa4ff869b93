//! Blocks that one kernel allocates and another frees.

use crate::churn::{DAMAGED, add};
use crate::pattern::{damage, words_of, write};
use warpheap_rt::device::*;

/// Lane `i` allocates `size` bytes, writes every word and stores the handle in `blocks[i]`, the null
/// handle if there was none.
#[kernel(allocators = all, unsafe(slices))]
pub fn produce<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &mut [DevicePtr<u8>],
    size: u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < blocks.len() {
        match heap.malloc(layout::bytes(size as usize)) {
            Ok(block) => {
                write(heap, block, 0, words_of(size), i as u32, 1);
                blocks[i] = block;
            }
            Err(error) => {
                blocks[i] = DevicePtr::NULL;
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Each lane checks and frees a block of [`produce`] that a lane far away allocated. The number of
/// blocks is a power of two.
#[kernel(allocators = all)]
pub fn consume<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &[DevicePtr<u8>],
    counts: &[AtomicWord],
    size: u32,
) {
    let i = thread::index() as usize;
    if i < blocks.len() {
        // An odd factor permutes the numbers below a power of two.
        let other = (i as u32).wrapping_mul(0x9e37_79b1) & (blocks.len() as u32 - 1);
        let block = blocks[other as usize];
        if !block.is_null() {
            add(
                counts,
                DAMAGED,
                damage(heap, block, words_of(size), other, 1),
            );
            // SAFETY: `produce` allocated it with this size, and each lane takes another one.
            unsafe { heap.free(block, layout::bytes(size as usize)) };
        }
    }
}
