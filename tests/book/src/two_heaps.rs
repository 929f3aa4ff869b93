//! `docs/two-heaps.md`.

use warpheap::device::*;

items!("two-heaps.the-kernel-1");

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub mod host {
    use warpheap::device::*;
    use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Pool, read_vectors};

    pub fn main(device: &Device) -> Result<(), DeviceError> {
        let (kernels, config) = (crate::load(device)?, LaunchConfig::for_num_elems(1000));
        body!("two-heaps.the-program-1");
        Ok(())
    }
}
