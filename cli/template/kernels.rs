//! Kernels that allocate: compiled for CUDA, for Vulkan, and for the host.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// Lane `i` appends the numbers from 0 to `i` to its list.
///
/// # Errors
/// As `HeapVec::push`; what was pushed stays.
#[kernel(allocators = [WarpHeap])]
pub fn count<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>) -> Result<(), AllocError> {
    for k in 0..=thread::index() {
        list.push(heap, k)?;
    }
    Ok(())
}

/// Lane `i` adds up its list and frees it.
#[kernel(allocators = [WarpHeap])]
pub fn add_up<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>, sum: &mut u32) {
    for k in 0..list.len() {
        *sum += list.get_or(heap, k, 0);
    }
    list.free(heap);
}
