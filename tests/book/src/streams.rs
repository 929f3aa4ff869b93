//! `docs/streams.md`.

use warpheap::device::*;

/// Each lane adds its number to its element.
#[kernel(allocators = [WarpHeap])]
pub fn build<A: DeviceAlloc>(heap: Heap<A>, number: &mut u32) {
    *number += thread::index();
}

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host {
    use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig};

    pub fn main(device: &Device, config: LaunchConfig) -> Result<(), DeviceError> {
        let (kernels, pool) = (
            crate::load(device)?,
            device.reserve::<super::WarpHeap>(1 << 20)?,
        );
        let mut one = DeviceVec::<u32>::zeroed(device, 100)?;
        let mut two = DeviceVec::<u32>::zeroed(device, 100)?;
        body!("streams.streams-work-that-the-host-does-not-wait-for-1");
        Ok(())
    }
}
