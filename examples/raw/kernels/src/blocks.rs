//! The kernel of the page `docs/raw.md`, which shows all below this line.

use warpheap_raw::{Pointers, RawHeap, WarpHeap, layout, thread};

/// Each lane a block of `size` bytes; null if there is no room.
///
/// # Safety
/// `out` has an element for each lane.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn blocks(heap: RawHeap, out: *mut *mut u8, size: u32) {
    // SAFETY: the host laid this heap out for `WarpHeap`.
    let Some(heap) = (unsafe { heap.attach::<WarpHeap>() }) else {
        return;
    };
    let block = heap.malloc_ptr(layout::bytes(size as usize));
    // SAFETY: as the function asks.
    unsafe { *out.add(thread::index() as usize) = block };
}
