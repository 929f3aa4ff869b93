//! Allocating in a heap on behalf of the host: kernels of one lane, and what launches them.
//!
//! Each comes twice, for the library's allocators and for the same in `Counted`, since those are the
//! kinds of heap that a host may hold without kernels of its own.

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
mod host;

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub use host::attach;

#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub(crate) use host::kernels_of;

use warpheap_rt::device::*;

/// A layout whose size came in two words; one that no heap serves where it needs more than the
/// target's words have.
#[inline(always)]
fn wide_layout(size_low: u32, size_high: u32, align: u32) -> Layout {
    // In two steps, since usize has 32 bits on some targets, where the high word is zero.
    let high = (size_high as usize) << 16 << 16;
    let size = if size_high != 0 && high == 0 {
        layout::ABSURD
    } else {
        high | size_low as usize
    };
    layout::aligned(size, align as usize)
}

#[inline(always)]
fn malloc_one<A: DeviceAlloc>(
    heap: Heap<A>,
    out: &mut [u32],
    layout: Layout,
) -> Result<(), AllocError> {
    if thread::index() == 0 && !out.is_empty() {
        out[0] = heap.malloc(layout)?.granule();
    }
    Ok(())
}

#[inline(always)]
fn free_one<A: DeviceAlloc>(heap: Heap<A>, ptr: DevicePtr<u32>, layout: Layout) {
    if thread::index() == 0 {
        // SAFETY: the host's caller promises it of this block.
        unsafe { heap.free(ptr.cast(), layout) };
    }
}

/// Allocates one block and writes its handle to `out[0]`.
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64], unsafe(slices))]
pub fn heap_malloc<A: DeviceAlloc>(
    heap: Heap<A>,
    out: &mut [u32],
    size_low: u32,
    size_high: u32,
    align: u32,
) -> Result<(), AllocError> {
    malloc_one(heap, out, wide_layout(size_low, size_high, align))
}

/// [`heap_malloc`] in heaps that count.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn heap_malloc_counted<A: DeviceAlloc>(
    heap: Heap<A>,
    out: &mut [u32],
    size_low: u32,
    size_high: u32,
    align: u32,
) -> Result<(), AllocError> {
    malloc_one(heap, out, wide_layout(size_low, size_high, align))
}

/// Frees one block, which the host's caller promises to be one of this heap.
#[kernel(allocators = [all, Traced<WarpHeap>, WarpHeap32, WarpHeap64])]
pub fn heap_free<A: DeviceAlloc>(
    heap: Heap<A>,
    ptr: DevicePtr<u32>,
    size_low: u32,
    size_high: u32,
    align: u32,
) {
    free_one(heap, ptr, wide_layout(size_low, size_high, align));
}

/// [`heap_free`] in heaps that count.
#[kernel(allocators = Counted<all>)]
pub fn heap_free_counted<A: DeviceAlloc>(
    heap: Heap<A>,
    ptr: DevicePtr<u32>,
    size_low: u32,
    size_high: u32,
    align: u32,
) {
    free_one(heap, ptr, wide_layout(size_low, size_high, align));
}
