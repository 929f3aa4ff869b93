//! `docs/heap-map.md`.

mod host {
    use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig};

    pub fn main(device: &Device, config: LaunchConfig) -> Result<(), DeviceError> {
        let (kernels, pool) = (
            crate::load(device)?,
            device.reserve::<warpheap::device::WarpHeap>(1 << 20)?,
        );
        let mut number = DeviceVec::<u32>::zeroed(device, 100)?;
        body!("heap-map.in-a-program-1");
        Ok(())
    }
}
