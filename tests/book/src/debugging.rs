//! `docs/debugging.md`.

use warpheap::device::*;

items!("debugging.a-data-race-1");

/// Each lane appends the numbers below 4 to its list.
#[kernel(allocators = [Counted<WarpHeap>, Failing<WarpHeap>, Checked<WarpHeap>, Limited<WarpHeap>, Traced<WarpHeap>])]
pub fn fill_lists<A: DeviceAlloc>(
    heap: Heap<A>,
    list: &mut HeapVec<u32>,
) -> Result<(), AllocError> {
    for k in 0..4 {
        list.push(heap, k)?;
    }
    Ok(())
}

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub mod host {
    use warpheap::device::*;
    use warpheap::{
        Device, DeviceError, DeviceVec, LaunchConfig, LimitedConfig, Pool, read_vectors,
    };

    /// Runs the wrong kernel.
    pub fn race(device: &Device) -> Result<(), DeviceError> {
        let (kernels, pool) = (crate::load(device)?, device.reserve::<WarpHeap>(4 << 20)?);
        body!("debugging.a-data-race-2");
        Ok(())
    }

    /// Counts requests.
    pub fn counted(device: &Device) -> Result<(), DeviceError> {
        let (kernels, config) = (crate::load(device)?, LaunchConfig::for_num_elems(4));
        let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(device, 4)?;
        body!("debugging.memory-that-is-not-given-back-1");
        Ok(())
    }

    /// Finds mistakes.
    pub fn checked(device: &Device) -> Result<(), DeviceError> {
        let (kernels, config) = (crate::load(device)?, LaunchConfig::for_num_elems(4));
        let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(device, 4)?;
        body!("debugging.a-heap-that-is-used-wrongly-1");
        Ok(())
    }

    /// Keeps a budget.
    pub fn limited(device: &Device) -> Result<(), DeviceError> {
        let (kernels, config_of_launch) = (crate::load(device)?, LaunchConfig::for_num_elems(4));
        let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(device, 4)?;
        body!("debugging.a-budget-1");
        Ok(())
    }

    /// Keeps a trace.
    pub fn traced(device: &Device) -> Result<(), DeviceError> {
        let (kernels, config) = (crate::load(device)?, LaunchConfig::for_num_elems(4));
        let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(device, 4)?;
        body!("traces.trace-a-heap-1");
        Ok(())
    }

    /// Refuses every request once.
    pub fn refused(device: &Device) -> Result<(), DeviceError> {
        let kernels = crate::load(device)?;
        body!("debugging.requests-that-fail-1");
        Ok(())
    }
}
