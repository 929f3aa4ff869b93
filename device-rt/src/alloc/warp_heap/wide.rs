//! WarpHeap for pools that are larger than handles of 16-byte granules reach.

use super::WarpHeap;
use crate::arch::Words;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapParams, HeapStats, HeapUsage, Layout,
    Reset, layout,
};

/// [`WarpHeap`] with granules of 32 bytes: for pools of up to 128 GiB. The smallest block has 32 bytes.
pub type WarpHeap32 = WideWarpHeap<1>;
/// [`WarpHeap`] with granules of 64 bytes: for pools of up to 256 GiB. The smallest block has 64 bytes.
pub type WarpHeap64 = WideWarpHeap<2>;

/// [`WarpHeap`] with granules of 16 bytes times two to the power of `SHIFT`, 1 or 2: [`WarpHeap32`] and [`WarpHeap64`].
///
/// All sizes are multiples of a granule, so blocks, size classes and chunks are as much larger; so is what it keeps for itself, and a block of 16
/// bytes takes a whole granule. In a pool of up to 64 GiB [`WarpHeap`] is the better one.
///
/// To WarpHeap a granule is a number: it reads and writes what it keeps about blocks, and never a block. So its heap is one of
/// 16-byte granules in which every size is divided by two to the power of `SHIFT`. Only who goes to the memory behind a handle has to know:
/// [`HeapMemory::word_of`](warpheap_api::HeapMemory::word_of).
#[derive(Clone, Copy)]
pub struct WideWarpHeap<const SHIFT: u32> {
    within: WarpHeap,
}

impl<const SHIFT: u32> HeapHandle for WideWarpHeap<SHIFT> {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        WideWarpHeap {
            // SAFETY: the caller's promise.
            within: unsafe { WarpHeap::attach(words.with_granule_shift(SHIFT), params) },
        }
    }
}

// SAFETY: blocks of the heap within do not overlap, nor do they where granules are larger. It carries blocks by `word_of`, as many bytes as
// its granules have.
unsafe impl<const SHIFT: u32> DeviceAlloc for WideWarpHeap<SHIFT> {
    type Memory = Words;
    const NAME: &'static str = match SHIFT {
        1 => "WarpHeap32",
        _ => "WarpHeap64",
    };
    const LEAN_REGISTERS: u32 = WarpHeap::LEAN_REGISTERS;
    const GRANULE_SHIFT: u32 = SHIFT;
    const COMPACTS: bool = WarpHeap::COMPACTS;
    const CAPS: Caps = Caps {
        frees: true,
        // No layout has a greater one.
        max_align: WarpHeap::CAPS.max_align,
        max_size: WarpHeap::CAPS.max_size << SHIFT,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.within.memory()
    }

    /// Adaptors count what it refuses in granules of 16 bytes.
    #[inline(always)]
    fn header(self) -> Words {
        self.within.memory().with_granule_shift(0)
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.within.malloc(layout::divided(layout, SHIFT))
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.within.free(ptr, layout::divided(layout, SHIFT)) }
    }

    #[inline(always)]
    fn calloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.within.calloc(layout::divided(layout, SHIFT))
    }

    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let new_size = layout::divided(layout::bytes(new_size), SHIFT).size();
        // SAFETY: the caller's promise.
        unsafe {
            self.within
                .realloc(ptr, layout::divided(old, SHIFT), new_size)
        }
    }

    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let whole = self.within.rounded(layout::divided(layout, SHIFT));
        layout::multiplied(whole, SHIFT, layout)
    }

    #[inline(always)]
    fn begin_compaction(self, percent: u32, index: u32, count: u32) -> u32 {
        self.within.begin_compaction(percent, index, count)
    }

    #[inline(always)]
    unsafe fn relocate(self, ptr: DevicePtr<u8>, layout: Layout) -> DevicePtr<u8> {
        // SAFETY: the caller's promise.
        unsafe { self.within.relocate(ptr, layout::divided(layout, SHIFT)) }
    }

    #[inline(always)]
    fn end_compaction(self, index: u32, count: u32) {
        self.within.end_compaction(index, count);
    }
}

// SAFETY: the heap within is fresh afterwards, and that is all.
unsafe impl<const SHIFT: u32> Reset for WideWarpHeap<SHIFT> {
    #[inline(always)]
    unsafe fn reset(self, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.within.reset(index, count) }
    }
}

impl<const SHIFT: u32> HeapStats for WideWarpHeap<SHIFT> {
    #[inline(always)]
    fn usage(self, index: u32, count: u32) -> HeapUsage {
        self.within.usage(index, count)
    }
}
