//! One request per lane, each lane keeping its block in an array. Sizes are arguments and not constants: what an allocator
//! computes from a size counts.

use warpheap_raw::{DevicePtr, Heap, Pointers, RawHeap, WarpHeap, layout, thread};

/// The heap, if it is one of `WarpHeap` and the lane is one of `lanes`.
#[inline(always)]
unsafe fn heap_of_lane(heap: RawHeap, lanes: u32) -> Option<(Heap<WarpHeap>, usize)> {
    let lane = thread::index();
    if lane >= lanes {
        return None;
    }
    // SAFETY: the host laid it out, or it is no heap.
    unsafe { heap.attach() }.map(|heap| (heap, lane as usize))
}

/// Lane `i` allocates `size` bytes and keeps the handle in `blocks[i]`, zero if there is none.
///
/// # Safety
/// `blocks` has `lanes` elements.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn malloc_handles(
    heap: RawHeap,
    blocks: *mut u32,
    lanes: u32,
    size: u32,
) {
    // SAFETY: as the function asks.
    if let Some((heap, i)) = unsafe { heap_of_lane(heap, lanes) } {
        let granule = match heap.malloc(layout::bytes(size as usize)) {
            Ok(block) => block.granule(),
            Err(_) => 0,
        };
        // SAFETY: `i` is less than `lanes`.
        unsafe { *blocks.add(i) = granule };
    }
}

/// Lane `i` frees `blocks[i]`.
///
/// # Safety
/// [`malloc_handles`] filled `blocks`, with this size and for these lanes.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn free_handles(
    heap: RawHeap,
    blocks: *const u32,
    lanes: u32,
    size: u32,
) {
    // SAFETY: as the function asks.
    if let Some((heap, i)) = unsafe { heap_of_lane(heap, lanes) } {
        // SAFETY: `i` is less than `lanes`, and each block is freed by one lane.
        unsafe {
            heap.free(
                DevicePtr::from_granule(*blocks.add(i)),
                layout::bytes(size as usize),
            )
        };
    }
}

/// Lane `i` allocates `size` bytes and keeps the address in `blocks[i]`, null if there is none.
///
/// # Safety
/// `blocks` has `lanes` elements.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn malloc_pointers(
    heap: RawHeap,
    blocks: *mut *mut u8,
    lanes: u32,
    size: u32,
) {
    // SAFETY: as the function asks.
    if let Some((heap, i)) = unsafe { heap_of_lane(heap, lanes) } {
        // SAFETY: `i` is less than `lanes`.
        unsafe { *blocks.add(i) = heap.malloc_ptr(layout::bytes(size as usize)) };
    }
}

/// Lane `i` frees `blocks[i]`.
///
/// # Safety
/// [`malloc_pointers`] filled `blocks`, with this size and for these lanes.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn free_pointers(
    heap: RawHeap,
    blocks: *const *mut u8,
    lanes: u32,
    size: u32,
) {
    // SAFETY: as the function asks.
    if let Some((heap, i)) = unsafe { heap_of_lane(heap, lanes) } {
        // SAFETY: `i` is less than `lanes`, and each block is freed by one lane.
        unsafe { heap.free_ptr(*blocks.add(i), layout::bytes(size as usize)) };
    }
}

/// Like [`malloc_pointers`], through Rust's global allocator.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn malloc_global(blocks: *mut *mut u8, lanes: u32, size: u32) {
    let i = thread::index();
    if i < lanes {
        // SAFETY: `i` is less than `lanes`, and `size` is not zero.
        unsafe { *blocks.add(i as usize) = alloc::alloc::alloc(layout::bytes(size as usize)) };
    }
}

/// Like [`free_pointers`], for [`malloc_global`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn free_global(blocks: *const *mut u8, lanes: u32, size: u32) {
    let i = thread::index();
    if i < lanes {
        // SAFETY: `i` is less than `lanes`, and each block is freed by one lane.
        unsafe { alloc::alloc::dealloc(*blocks.add(i as usize), layout::bytes(size as usize)) };
    }
}

/// Keeps one lane busy for `steps` steps, each of which needs the one before: what is measured is queued meanwhile, and begins
/// the moment this ends.
///
/// # Safety
/// `out` is one word.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn delay(out: *mut u32, steps: u32) {
    if thread::index() == 0 {
        let mut x = steps | 1;
        for _ in 0..steps {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
        }
        // SAFETY: as the function asks. Unless the result is used, there is nothing left to do.
        unsafe { *out = x };
    }
}
