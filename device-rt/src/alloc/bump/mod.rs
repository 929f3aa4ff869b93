//! A pointer that only moves forward: the floor for every other allocator.
//!
//! `malloc` is one atomic addition per warp, for large requests a compare-and-swap; `free` does nothing, and memory
//! comes back when the whole pool is reset. `frontier` says why no granule is handed out twice.

use super::fail;
use super::frontier::{Frontier, NONE, Place, Request};
use crate::arch::{Group, Words};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapParams, Layout, header, layout,
};

/// Word of the next free granule.
pub(crate) const WORD_NEXT: usize = header::HEADER_WORDS;
/// Granule at which a fresh heap begins to hand out.
pub(crate) const FIRST_GRANULE: u32 = (header::HEADER_WORDS as u32 + 4) / 4;
/// Parameter: the granule behind the last one.
pub(crate) const PARAM_LIMIT: usize = 0;
/// Most granules of a heap that are used: 48 GiB. The rest is room for the additions of warps that
/// find the heap full.
pub(crate) const MOST_GRANULES: u32 = 3 << 30;
/// Greatest alignment. Not read from `CAPS` on the device, whose 64-bit size Vulkan may not have.
const MAX_ALIGN: u32 = 1 << 16;

/// The bump allocator.
#[derive(Clone, Copy)]
pub struct Bump {
    words: Words,
    limit: u32,
}

impl HeapHandle for Bump {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        Bump {
            words,
            limit: params[PARAM_LIMIT],
        }
    }
}

// SAFETY: what is handed out are units of a frontier that are granules behind the header.
unsafe impl DeviceAlloc for Bump {
    type Memory = Words;
    const NAME: &'static str = "Bump";
    const CAPS: Caps = Caps {
        frees: false,
        max_align: MAX_ALIGN,
        max_size: MOST_GRANULES as u64 * 16,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let request = Request {
            count: layout::granules(layout),
            align: layout::align_granules(layout),
        };
        if request.count >= MOST_GRANULES || layout.align() > MAX_ALIGN as usize {
            return fail(self.words, layout, AllocError::Unsupported);
        }
        let next = Frontier {
            word: WORD_NEXT,
            limit: self.limit,
            origin: 0,
        };
        let group = Group::here();
        let begin = if group.is_full() {
            next.add_all(self.words, group.full(), request)
        } else {
            next.add_all(self.words, group, request)
        };
        // The same in all lanes.
        let place = if begin == NONE {
            next.in_rounds(self.words, group, request, true)
        } else {
            Place {
                first: next.aligned(begin, request.align),
                code: 0,
            }
        };
        if place.code == 0 {
            Ok(DevicePtr::from_granule(place.first))
        } else {
            fail(self.words, layout, AllocError::from_code(place.code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, _ptr: DevicePtr<u8>, _layout: Layout) {}
}

#[cfg(feature = "std")]
pub(crate) mod host;
