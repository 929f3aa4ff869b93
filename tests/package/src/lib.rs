//! Kernels that allocate.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// Lane `i` makes a list of 0 to `i`.
#[kernel(allocators = [WarpHeap])]
pub fn count<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>) -> Result<(), AllocError> {
    for k in 0..=thread::index() {
        list.push(heap, k)?;
    }
    Ok(())
}

/// Lane `i` adds up list `i` and frees it.
#[kernel(allocators = [WarpHeap])]
pub fn sums<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>, sum: &mut u32) {
    for k in 0..list.len() {
        *sum += list.get_or(heap, k, 0);
    }
    list.free(heap);
}
