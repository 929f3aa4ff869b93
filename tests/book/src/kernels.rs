//! `docs/kernels.md`; its first block is the root of this crate.

use warpheap::device::*;

items!("kernels.what-a-kernel-takes-2");

/// Shows a block to other lanes.
///
/// # Safety
/// The block is this lane's, and `mailbox` a word of the heap that is there for handles.
pub unsafe fn show<A: DeviceAlloc<Memory = warpheap::rt::arch::Words>>(
    heap: Heap<A>,
    block: DevicePtr<u32>,
    value: u32,
    mailbox: usize,
) {
    body!("kernels.what-orders-what-1")
}
