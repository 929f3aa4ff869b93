//! `docs/containers.md`.

use warpheap::device::*;

/// Counts words.
#[kernel(allocators = [WarpHeap])]
pub fn count_keys<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    words: &[u32],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < words.len() {
        map.add(heap, words[i], 1)?;
    }
    Ok(())
}

/// The lanes of a warp that are here build one vector.
pub fn build_together<A: DeviceAlloc>(heap: Heap<A>, value: u32) -> Result<(), AllocError> {
    use warpheap::rt::sync::Group;
    body!("containers.vectors-1");
    Ok(())
}

/// Text in a string.
pub fn name_nodes<A: DeviceAlloc>(
    heap: Heap<A>,
    name: &mut HeapString,
    other: &HeapString,
    flags: u32,
) -> Result<(), AllocError> {
    let (id, share, total) = (thread::index(), 0.5f32, 3u32);
    body!("containers.text-1");
    Ok(())
}

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host {
    use warpheap::device::WarpHeap;
    use warpheap::{Device, DeviceError, DeviceHashMap, DeviceVec, LaunchConfig, Pool};

    pub fn main(device: &Device, config: LaunchConfig) -> Result<(), DeviceError> {
        let (kernels, pool) = (crate::load(device)?, device.reserve::<WarpHeap>(1 << 20)?);
        let words = DeviceVec::<u32>::zeroed(device, 100)?;
        body!("containers.on-the-host-1");
        Ok(())
    }
}

/// A crate with Rust's own collections. For CUDA such a crate is compiled as `tests/collections/heaps` is.
#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod collections {
    use warpheap::device::*;

    items!("containers.rusts-own-collections-1");
}
