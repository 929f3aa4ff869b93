//! One pair of kernels for several allocators: compiled to PTX, to SPIR-V, and for the host.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// The longest vector that a lane makes.
pub const LONGEST: u32 = 64;

/// Number of elements of the vector of lane `i`: 1 to [`LONGEST`], as if by chance.
#[inline(always)]
pub fn elements(i: u32) -> u32 {
    1 + (i.wrapping_mul(0x9e37_79b1) >> 16) % LONGEST
}

/// Lane `i` pushes [`elements`] numbers, `i` and those after it, to a vector of its own.
#[kernel(allocators = [WarpHeap, ScatterAlloc, Gallatin, RandomWalk, SizeList])]
pub fn grow<A: DeviceAlloc>(heap: Heap<A>, vectors: &mut [HeapVec<u32>]) -> Result<(), AllocError> {
    let i = thread::index();
    if (i as usize) < vectors.len() {
        let mut vector = HeapVec::new();
        let mut result = Ok(());
        for k in 0..elements(i) {
            if result.is_ok() {
                result = vector.push(heap, i + k);
            }
        }
        vectors[i as usize] = vector; // also if it could not grow: the host frees it
        return result;
    }
    Ok(())
}

/// Lane `i` adds up vector `i` and frees it.
#[kernel(allocators = [WarpHeap, ScatterAlloc, Gallatin, RandomWalk, SizeList])]
pub fn sum_and_free<A: DeviceAlloc>(heap: Heap<A>, vectors: &mut [HeapVec<u32>], sums: &mut [u32]) {
    let i = thread::index() as usize;
    if (i < vectors.len()) & (i < sums.len()) {
        let mut vector = vectors[i];
        let mut sum = 0;
        for k in 0..vector.len() {
            sum += vector.get_or(heap, k, 0);
        }
        vector.free(heap);
        vectors[i] = vector;
        sums[i] = sum;
    }
}
