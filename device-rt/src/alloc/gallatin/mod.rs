//! Gallatin: slices out of blocks out of segments, found through trees of bitmap words.
//!
//! McCoy, Pandey, *Gallatin: A General-Purpose GPU Memory Manager* (2024). Memory is a row of equal
//! *segments*. A segment is split into equal *blocks* by the first class that needs one, a block into
//! equal *slices* that are handed out in order by a counter; a block goes back to its segment when
//! all of its slices are back, a segment to all classes when all of its blocks are (§4). What is larger
//! than the largest slice takes a block; what is larger than a segment takes segments side by side, from the
//! back. `docs/gallatin.md` walks one malloc and one free.
//!
//! | file | what |
//! |---|---|
//! | `geometry` | where metadata and segments lie |
//! | `state` | words of segments, blocks and buffers |
//! | `moves` | whether a search in vain has seen all there is |
//! | `segment` | segment tree, block trees, the ring of a segment |
//! | `block` | getting a block, returning it |
//! | `request` | what a layout asks for |
//! | `slice` | the block buffers, and the search of a team |
//!
//! What differs from the paper: class and count of a block share one word, so that a claim through a buffer
//! that is out of date is seen by who makes it, and refunded; a free computes the block from layout and
//! address and reads nothing; one lane of a class takes a free segment at a time; and a request that finds
//! nothing takes blocks that nobody uses out of the buffers before it fails.

mod block;
mod geometry;
mod moves;
mod request;
mod segment;
mod slice;
mod state;

pub(crate) use geometry::{
    BUFFERS_WORD, Geometry, MOST_CLASSES, PARAM_BUFFERS, PARAM_DATA, PARAM_SEGMENTS, PARAM_SIZES,
    PARAM_TABLE, PARAM_TREES,
};
pub(crate) use state::{
    RUN, RUN_HEAD, UNUSED, WHOLE, back_count, block_count, block_tag, segment_tag, tag_for,
};

use super::fail;
use crate::arch::{self, Words};
use crate::sync::{Group, Team};
use block::Refund;
use request::{Kind, Request};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapParams, Layout, layout, select,
};

/// Granules of the largest request: what handles reach, less room for additions not to wrap.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;

/// The allocator of the paper.
#[derive(Clone, Copy)]
pub struct Gallatin {
    words: Words,
    geometry: Geometry,
}

impl HeapHandle for Gallatin {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        Gallatin {
            words,
            geometry: Geometry::new(params),
        }
    }
}

impl Gallatin {
    /// Frees the block or the segments of one lane; or, of the leader of a team, `count` slices.
    #[inline(always)]
    fn free_one(self, request: Request, granule: u32, count: u32) {
        if request.kind == Kind::RUN {
            let first = self.geometry.segment_of(granule);
            self.free_segments(first, request.segments);
        } else {
            // A block that is handed out whole is as a block of one slice.
            let class = request.class;
            let block = self.geometry.block_of(granule, class);
            let slices = self.geometry.slices(class);
            self.free_slices(Refund {
                block,
                class,
                count: select(request.kind == Kind::WHOLE, slices, count),
            });
        }
    }

    /// Collective: the lanes whose slices lie in the same block as the calling one's; of lanes with something
    /// else to free, or nothing, the calling one alone.
    #[inline(always)]
    fn free_team(self, group: Group, request: Request, ptr: DevicePtr<u8>) -> Team {
        let slice = request.kind == Kind::SLICE;
        let block = self.geometry.block_of(ptr.granule(), request.class);
        let alone = u32::MAX - arch::lane();
        Team::by_key(group, select(slice & !ptr.is_null(), block, alone))
    }
}

// SAFETY: a slice belongs to whoever's addition to its block's count came to its number, which happens once
// between two times that the block is its segment's; a block to whoever took it out of the ring or formed its
// segment; segments to whoever removed them from the segment tree.
unsafe impl DeviceAlloc for Gallatin {
    type Memory = Words;
    const NAME: &'static str = "Gallatin";
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_ALIGN * 16,
        max_size: MOST_GRANULES as u64 * 16,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let group = Group::here();
        let answer = self.serve(group, self.request(layout));
        group.acquire();
        if answer.code == 0 {
            Ok(DevicePtr::from_granule(answer.granule))
        } else {
            fail(self.words, layout, AllocError::from_code(answer.code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        let group = Group::here();
        group.release();
        let request = self.request(layout);
        let team = self.free_team(group, request, ptr);
        if !ptr.is_null() & team.leads() {
            self.free_one(request, ptr.granule(), team.count());
        }
    }

    /// Stays in place where old and new size take the same slice, block or segments.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let was = self.request(old);
        let is = self.request(layout::aligned(new_size, old.align()));
        let same = (was.kind == is.kind)
            & (was.class == is.class)
            & (was.segments == is.segments)
            & (is.kind != Kind::NONE);
        if same {
            return Ok(ptr);
        }
        // SAFETY: the caller's promise.
        unsafe { self.move_block(ptr, old, new_size) }
    }

    /// A slice, a block, or whole segments.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let request = self.request(layout);
        let geometry = self.geometry;
        let block = 1 << geometry.block_log(request.class);
        let slice = 1 << request.class;
        let run = request.segments << geometry.segment_log();
        let granules = select(request.kind == Kind::SLICE, slice, block);
        let granules = select(request.kind == Kind::RUN, run, granules);
        layout::with_granules(layout, select(request.kind == Kind::NONE, 0, granules))
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
