//! `docs/kernels.md`; its first block is the root of this crate.

use warpheap::device::*;

items!("kernels.what-a-kernel-takes-2");

items!("kernels.printing-1");

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host {
    use warpheap::device::*;
    use warpheap::{Device, DeviceError, DeviceLog, DeviceVec, LaunchConfig};

    pub fn main(device: &Device, config: LaunchConfig) -> Result<(), DeviceError> {
        let (kernels, pool) = (crate::load(device)?, device.reserve::<WarpHeap>(1 << 20)?);
        let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(device, 100)?;
        let mut weights = DeviceVec::<f32>::zeroed(device, 100)?;
        body!("kernels.printing-2");
        Ok(())
    }
}

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
