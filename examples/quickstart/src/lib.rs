//! Kernels that allocate: compiled to PTX, to SPIR-V, and for the host.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// Lane `i` makes a list of the squares of 0 to `i`: the element `i` of the vector that the host passes.
#[kernel(allocators = all)]
pub fn squares<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>) -> Result<(), AllocError> {
    for k in 0..=thread::index() {
        list.push(heap, k * k)?; // grows on the device; what was pushed before an Err stays in the list
    }
    Ok(()) // an Err is counted and reported to the host
}

/// Lane `i` adds up list `i`, which an earlier launch made, and frees it.
#[kernel(allocators = all)]
pub fn sums<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>, sum: &mut u32) {
    for k in 0..list.len() {
        *sum += list.get_or(heap, k, 0);
    }
    list.free(heap);
}
