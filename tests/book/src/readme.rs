//! `README.md`.

/// The kernel, as a crate has it. It is that of `examples/quickstart`, which has an image for Vulkan; with every allocator that
/// takes minutes to make.
#[cfg(not(target_arch = "spirv"))]
mod device {
    items!("README.warpheap-1");
}

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host {
    use crate as my_kernels;
    use warpheap::device::HeapVec;
    use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Pool};

    pub fn main() -> Result<(), DeviceError> {
        body!("README.warpheap-2");
        Ok(())
    }
}
