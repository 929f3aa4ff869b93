//! `docs/growth.md`.

use warpheap::device::*;

items!("growth.kernels-that-may-run-again-1");

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host {
    use warpheap::device::HeapVec;
    use warpheap::{Device, DeviceError, DeviceVec, Growth, LaunchConfig, Pool};

    pub fn main(device: &Device) -> Result<(), DeviceError> {
        let kernels = crate::load(device)?;
        let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(device, 1024)?;
        body!("growth.pools-that-grow-1");
        Ok(())
    }
}
