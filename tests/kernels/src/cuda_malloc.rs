//! CUDA's own malloc, which other backends do not have.

use crate::pattern::{fill, intact, words_of};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// In `counts`: blocks that did not hold what was written to them, or are not aligned.
pub const DAMAGED: usize = 0;
/// In `counts`: requests that were served.
pub const SERVED: usize = 1;
/// In `counts`: requests that failed, by code: 1 to 3 places behind.
pub const FAILED: usize = 1;

/// Each lane, `rounds` times: takes two blocks of 1 to `most` bytes, the second aligned to 16 to 2048 bytes,
/// writes and checks both, and frees them.
#[kernel(allocators = [CudaMalloc])]
pub fn cuda_rounds<A: DeviceAlloc>(heap: Heap<A>, counts: &[AtomicWord], rounds: u32, most: u32) {
    let mut round = 0;
    while round < rounds {
        let dice = hash(thread::index() ^ (round << 24));
        let plain = layout::bytes((1 + dice % most) as usize);
        let aligned = layout::aligned(plain.size(), 16 << ((dice >> 8) % 8));
        let first = take(heap, counts, plain, dice);
        let second = take(heap, counts, aligned, !dice);
        give(heap, counts, first, plain, dice);
        give(heap, counts, second, aligned, !dice);
        round += 1;
    }
}

#[inline(always)]
fn take<A: DeviceAlloc>(
    heap: Heap<A>,
    counts: &[AtomicWord],
    layout: Layout,
    stamp: u32,
) -> DevicePtr<u8> {
    match heap.malloc(layout) {
        Ok(ptr) => {
            counts[SERVED].fetch_add(1);
            fill(heap, ptr, 0, words_of(layout.size() as u32), stamp);
            ptr
        }
        Err(error) => {
            counts[FAILED + error.code() as usize].fetch_add(1);
            DevicePtr::NULL
        }
    }
}

#[inline(always)]
fn give<A: DeviceAlloc>(
    heap: Heap<A>,
    counts: &[AtomicWord],
    ptr: DevicePtr<u8>,
    layout: Layout,
    stamp: u32,
) {
    if !ptr.is_null() {
        let words = words_of(layout.size() as u32);
        let aligned = ptr.granule() & (layout::align_granules(layout) - 1) == 0;
        if !(aligned & intact(heap, ptr, 0, words, words, stamp)) {
            counts[DAMAGED].fetch_add(1);
        }
        // SAFETY: the block is this lane's own, of this layout.
        unsafe { heap.free(ptr, layout) };
    }
}
