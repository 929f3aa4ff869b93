//! The output buffer of the hash join that the random walk is measured against: a counter that hands out
//! places of equal size, one addition for each lane.
//!
//! Pham and others, *Dynamic Buffer Management in Massively Parallel Systems: A Case on GPUs*, §VI, after the
//! "direct output buffer" of Rui and Tu's join: pages are never freed, so getting one is adding one to a
//! counter.
//! A request of more than a place takes as many, side by side. `frontier` says why no place is handed out twice.

use super::fail;
use super::frontier::{Frontier, NONE, Place, Request};
use crate::arch::{Group, Words};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapParams, Layout, header, layout,
    select,
};

/// Word of the counter: the next place.
pub(crate) const WORD_NEXT: usize = header::HEADER_WORDS;
/// Parameter: granule of place 0, a multiple of a place.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of places.
pub(crate) const PARAM_PLACES: usize = 1;
/// Parameter: two to this power granules are a place.
pub(crate) const PARAM_SHIFT: usize = 2;
/// The least that `PARAM_SHIFT` can be: with 32 bytes a place 64 GiB have 2^31 of them, and as many numbers
/// are left for the additions of lanes that find the heap full.
pub(crate) const LEAST_SHIFT: u32 = 1;
/// Granules of the largest request.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// Greatest alignment. Not read from `CAPS` on the device, whose 64-bit size Vulkan may not have.
const MAX_ALIGN: u32 = 1 << 16;

/// The join's output counter.
#[derive(Clone, Copy)]
pub struct DirectOutput {
    words: Words,
    data: u32,
    places: u32,
    shift: u32,
}

impl HeapHandle for DirectOutput {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        DirectOutput {
            words,
            data: params[PARAM_DATA],
            places: params[PARAM_PLACES],
            shift: params[PARAM_SHIFT],
        }
    }
}

// SAFETY: what is handed out are units of a frontier that are places.
unsafe impl DeviceAlloc for DirectOutput {
    type Memory = Words;
    const NAME: &'static str = "DirectOutput";
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
        let granules = layout::granules(layout);
        let possible = (granules <= MOST_GRANULES) & (layout.align() <= MAX_ALIGN as usize);
        let rest = granules & ((1 << self.shift) - 1);
        let align = layout::align_granules(layout) >> self.shift;
        let request = Request {
            count: (granules >> self.shift) + (rest != 0) as u32,
            align: select(align == 0, 1, align),
        };
        let next = Frontier {
            word: WORD_NEXT,
            limit: self.places,
            origin: self.data >> self.shift,
        };
        let group = Group::here();
        let asked = request.with_slack();
        let mut begin = NONE;
        if possible & (asked <= next.most_added(1)) {
            begin = next.add(self.words, asked);
        }
        let mut place = Place {
            first: next.aligned(select(begin == NONE, 0, begin), request.align),
            code: select(possible, 0, AllocError::Unsupported.code()),
        };
        let waits = possible & (begin == NONE);
        // A lane that carried the counter beyond the end has put it back before others of its warp look at it.
        group.barrier();
        if group.any(waits) {
            let later = next.in_rounds(self.words, group, request, waits);
            place.first = select(waits, later.first, place.first);
            place.code = select(waits, later.code, place.code);
        }
        if place.code == 0 {
            Ok(DevicePtr::from_granule(
                self.data + (place.first << self.shift),
            ))
        } else {
            fail(self.words, layout, AllocError::from_code(place.code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, _ptr: DevicePtr<u8>, _layout: Layout) {}

    /// Whole places.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let granules = layout::granules(layout);
        let place = (1 << self.shift) - 1;
        layout::with_granules(layout, granules.wrapping_add(place) & !place)
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
