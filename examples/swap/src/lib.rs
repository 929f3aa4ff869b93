//! One pair of kernels for several allocators: compiled to PTX, to SPIR-V, and for the host.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!(allocators = [WarpHeap, ScatterAlloc, Gallatin, RandomWalk, SizeList]);

/// The longest vector that a lane makes.
pub const LONGEST: u32 = 64;

/// Number of elements of the vector of lane `i`: 1 to [`LONGEST`], as if by chance.
#[inline(always)]
pub fn elements(i: u32) -> u32 {
    1 + (i.wrapping_mul(0x9e37_79b1) >> 16) % LONGEST
}

/// Lane `i` pushes [`elements`] numbers, `i` and those after it, to a vector of its own. What it could push is in the
/// vector also if it fails: the host frees it.
#[kernel(allocators = listed)]
pub fn grow<A: DeviceAlloc>(heap: Heap<A>, vector: &mut HeapVec<u32>) -> Result<(), AllocError> {
    let i = thread::index();
    for k in 0..elements(i) {
        vector.push(heap, i + k)?;
    }
    Ok(())
}

/// Lane `i` adds up vector `i` and frees it.
#[kernel(allocators = listed)]
pub fn sum_and_free<A: DeviceAlloc>(heap: Heap<A>, vector: &mut HeapVec<u32>, sum: &mut u32) {
    *sum = 0;
    for k in 0..vector.len() {
        *sum += vector.get_or(heap, k, 0);
    }
    vector.free(heap);
}
