//! `docs/several-devices.md`.

use warpheap::device::*;

/// Each lane puts its number into its element.
#[kernel(allocators = [WarpHeap])]
pub fn count_up<A: DeviceAlloc>(heap: Heap<A>, number: &mut u32) {
    *number = thread::index();
}

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub mod host {
    use crate as my_kernels;
    use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Pool};

    pub fn threads() -> Result<(), DeviceError> {
        body!("several-devices.one-thread-for-each-1")
    }

    pub fn copies(devices: &[Device]) -> Result<(), DeviceError> {
        body!("several-devices.from-one-device-to-another-1");
        Ok(())
    }
}
