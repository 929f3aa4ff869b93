//! `docs/tutorial.md`, whose kernels and program are those of `warpheap new`.

/// The kernels, as a crate has them.
mod device {
    items!("tutorial.2-look-at-the-kernels-1");
}

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host {
    use crate as my_project;
    use warpheap::device::HeapVec;
    use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Pool};

    const LISTS: u32 = 300;

    pub fn main() -> Result<(), DeviceError> {
        body!("tutorial.3-look-at-the-program-1");
        Ok(())
    }
}
