//! `docs/raw.md`: the host's half. The kernels are those of `examples/raw`.

use warpheap_raw::host::{Layout, LayoutError};
use warpheap_raw::{RawHeap, WarpHeap};

/// Memory of a device: so many bytes, where address is a multiple of this one.
fn device_memory(bytes: u64, align: u64) -> u64 {
    0
}

/// Sets words of a device's memory, as `cuMemsetD32` does.
fn set_words(address: u64, value: u32, words: u64) {}

pub fn heap() -> Result<(), LayoutError> {
    body!("raw.the-host-1");
    Ok(())
}
