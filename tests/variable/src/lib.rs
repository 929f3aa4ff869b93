//! A kernel that makes a mistake, written for `WarpHeap` and for nothing else: it names no adaptor.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// The lane that makes the mistake.
pub const LANE: u32 = 5;

/// The line of the malloc in [`twice`].
pub const MALLOC_LINE: u32 = line!() + 9;

/// Each lane allocates a block and frees it; [`LANE`] frees it twice.
///
/// # Errors
/// As `malloc`.
#[kernel]
pub fn twice(heap: Heap<WarpHeap>, mistake: bool) -> Result<(), AllocError> {
    let layout = layout::bytes(40);
    let ptr = heap.malloc(layout)?;
    let more = mistake && thread::index() == LANE;
    // SAFETY: the lane's own block. The second free is wrong.
    unsafe {
        heap.free(ptr, layout);
        if more {
            heap.free(ptr, layout);
        }
    }
    Ok(())
}

/// The line of the right free in [`twice`].
pub const FREE_LINE: u32 = MALLOC_LINE + 4;

/// The line of the wrong one.
pub const WRONG_LINE: u32 = FREE_LINE + 2;
