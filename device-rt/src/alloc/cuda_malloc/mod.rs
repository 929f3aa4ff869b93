//! CUDA's own `malloc` and `free` of kernels, as the papers compare with.
//!
//! Its heap is the context's, one for all pools, and lies elsewhere than the pool. Handles count from a
//! base that the first kernel finds and leaves in the pool: half their reach of 64 GiB below a block of
//! that heap. A block that lies further away is not handed out.

use super::fail;
use crate::arch::{self, Group, Words};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, header,
    layout, select,
};

/// Word of the pool that has the base, in units of 64 KiB; zero until a kernel has found it.
pub(crate) const WORD_BASE: usize = header::HEADER_WORDS;
/// Granules of the largest request: half of what handles reach.
const MOST_GRANULES: u32 = 1 << 31;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;

/// CUDA's device malloc. Every request is `Unsupported` where there is none, and no pool can be
/// reserved there.
#[derive(Clone, Copy)]
pub struct CudaMalloc {
    /// The pool: header and base.
    pool: Words,
    /// What handles reach.
    window: Words,
    base: u32,
}

impl HeapHandle for CudaMalloc {
    #[inline(always)]
    unsafe fn attach(words: Words, _params: HeapParams) -> Self {
        let mut base = 0;
        if arch::HAS_DEVICE_HEAP {
            base = words.load(WORD_BASE);
            // The first kernel: one lane of each group looks, and the first of all leaves it for the others.
            let group = Group::here();
            if (base == 0) & group.leads() {
                words.compare_exchange(WORD_BASE, 0, arch::device_heap_base());
            }
            group.barrier();
            if base == 0 {
                base = words.load(WORD_BASE);
            }
        }
        CudaMalloc {
            pool: words,
            window: arch::device_heap(words, base),
            base,
        }
    }
}

// SAFETY: blocks are CUDA's, each with room to align within.
unsafe impl DeviceAlloc for CudaMalloc {
    type Memory = Words;
    const NAME: &'static str = "CudaMalloc";
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_ALIGN * 16,
        max_size: MOST_GRANULES as u64 * 16,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.window
    }

    #[inline(always)]
    fn header(self) -> Words {
        self.pool
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let possible = arch::HAS_DEVICE_HEAP & (granules <= MOST_GRANULES) & (align <= MOST_ALIGN);
        if !possible {
            return fail(self.pool, layout, AllocError::Unsupported);
        }
        // CUDA aligns to a granule; for more, the granule before the block tells where CUDA's begins.
        let extra = select(align > 1, align, 0);
        // A heap without a block to find the base by has none to give.
        let mut first = u32::MAX;
        if self.base != 0 {
            first = arch::device_malloc(self.base, granules + extra);
        }
        if first == u32::MAX {
            return fail(self.pool, layout, AllocError::Exhausted);
        }
        self.pool.acquire();
        let mut start = first;
        if extra != 0 {
            start = (first + align) & !(align - 1);
            self.window.write((start as usize - 1) * 4, first);
        }
        Ok(DevicePtr::from_granule(start))
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        if arch::HAS_DEVICE_HEAP & !ptr.is_null() {
            let mut first = ptr.granule();
            if layout::align_granules(layout) > 1 {
                first = self.window.read(self.window.word_of(ptr) - 4);
            }
            self.pool.release();
            // SAFETY: the caller's promise: the block came from `malloc`, which got it with this base.
            unsafe { arch::device_free(self.base, first) };
        }
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
