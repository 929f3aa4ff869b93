//! Kernels that allocate: compiled to PTX, to SPIR-V, and for the host.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// Lane `i` makes a list of the squares of 0 to `i`.
#[kernel(allocators = all)]
pub fn squares<A: DeviceAlloc>(heap: Heap<A>, out: &mut [HeapVec<u32>]) -> Result<(), AllocError> {
    let i = thread::index();
    if (i as usize) < out.len() {
        let mut list = HeapVec::new();
        for k in 0..=i {
            list.push(heap, k * k)?; // grows on the device
        }
        out[i as usize] = list;
    }
    Ok(()) // an Err is counted and reported to the host
}

/// Lane `i` adds up list `i`, which an earlier launch made, and frees it.
#[kernel(allocators = all)]
pub fn sums<A: DeviceAlloc>(heap: Heap<A>, lists: &mut [HeapVec<u32>], out: &mut [u32]) {
    let i = thread::index() as usize;
    if i < lists.len() && i < out.len() {
        let mut list = lists[i];
        let mut sum = 0;
        for k in 0..list.len() {
            sum += list.get_or(heap, k, 0);
        }
        list.free(heap);
        lists[i] = list;
        out[i] = sum;
    }
}
