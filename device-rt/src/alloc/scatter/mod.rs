//! ScatterAlloc: hashing scatters requests over pages, so that few lanes meet on a word.
//!
//! Steinberger, Kenzel, Kainz, Schmalstieg, *ScatterAlloc: Massively Parallel Dynamic Memory
//! Allocation for the GPU* (2012). Memory is a list of *super blocks* of equal *pages*; a page is
//! split into equal *chunks* by the first request that reaches it and stays so until all of them
//! are free again (§5.2). A request starts at the page that a hash of its size and its place names
//! (§5.3) and walks on from there, past regions of full pages (§5.4).
//!
//! | file | what |
//! |---|---|
//! | `geometry` | where metadata and pages lie |
//! | `state` | the word of a page: its chunk size and how many chunks are in use |
//! | `levels` | how full regions and super blocks are, and the active super block |
//! | `page` | chunks of one page: reserve, claim, free |
//! | `place` | where a request begins to look |
//! | `quick` | the way that most requests take, without loops |
//! | `serve` | all that the quick way did not |
//! | `search` | which page |
//! | `run` | requests of more than a page |
//!
//! What differs from the paper: the lanes of a warp that ask for the same size share one search and
//! one claim; chunk size and fill count share one word, so that a page is reset by one
//! compare-and-swap instead of under a lock; a page's second bit level lies in the metadata, where
//! it needs no setting up; runs of pages are claimed page by page by any number of lanes at once;
//! and a request that finds no room below the fill levels looks once more everywhere before it
//! fails.

mod geometry;
mod levels;
mod page;
mod place;
mod quick;
mod run;
mod search;
mod serve;
mod state;

pub(crate) use geometry::{
    CURSOR_STRIDE, CURSOR_WORD, CURSORS, MAX_BLOCKS, MAX_PAGE_GRANULES, MAX_REGIONS, PARAM_BLOCKS,
    PARAM_DATA, PARAM_FILL, PARAM_FRAG, PARAM_K_MP, PARAM_K_SIZE, PARAM_PAGES, PARAM_SHIFTS,
    Tables, pack_shifts,
};
pub(crate) use state::{MULTI_HEAD, chunk_of, count_of, is_multi};

use super::fail;
use crate::arch::{self, Words};
use crate::sync::{Group, Team};
use geometry::Geometry;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
    select,
};

/// Granules of the largest request: what handles reach, less room for additions not to wrap.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;

/// The granule of no block.
const NONE: u32 = DevicePtr::<u8>::NULL_GRANULE;

/// The allocator of the paper.
#[derive(Clone, Copy)]
pub struct ScatterAlloc {
    words: Words,
    geometry: Geometry,
}

impl HeapHandle for ScatterAlloc {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        ScatterAlloc {
            words,
            geometry: Geometry::new(params),
        }
    }
}

impl ScatterAlloc {
    /// Granules of the chunk that a request is served with; more than a page holds for a run.
    #[inline(always)]
    fn chunk_for(self, granules: u32, align: u32) -> u32 {
        // Pages begin at multiples of their size, so a chunk of a multiple of the alignment is
        // aligned in its page.
        let chunk = granules.wrapping_add(align - 1) & !(align - 1);
        select(granules > MOST_GRANULES, u32::MAX, chunk)
    }

    /// The same for a layout.
    #[inline(always)]
    fn chunk_of_layout(self, layout: Layout) -> u32 {
        self.chunk_for(layout::granules(layout), layout::align_granules(layout))
    }

    /// Whether pages are split for a request that is served with `chunk` granules.
    #[inline(always)]
    fn is_small(self, chunk: u32, align: u32) -> bool {
        (chunk <= self.geometry.page_granules()) & (align <= MOST_ALIGN)
    }

    /// Collective: lanes with the same chunk, alignment and start page search as one.
    #[inline(always)]
    fn team<const FULL: bool>(
        self,
        group: Group<FULL>,
        small: bool,
        chunk: u32,
        align: u32,
    ) -> Team<FULL> {
        let slot = self.geometry.slot(chunk, arch::thread_index());
        let key = chunk | align.trailing_zeros() << 11 | slot << 15;
        Team::by_key(group, select(small, key, 0))
    }
}

/// What the leader of a team has for its lanes.
#[derive(Clone, Copy)]
struct Part {
    /// Granule of the first of 32 chunks.
    base: u32,
    /// Which of the 32 chunks.
    mask: u32,
    /// Granules of a chunk.
    chunk: u32,
}

impl Part {
    const NONE: Part = Part {
        base: 0,
        mask: 0,
        chunk: 0,
    };
}

/// What a lane got: a granule, or an error's code.
#[derive(Clone, Copy)]
struct Chunk {
    granule: u32,
    code: u32,
}

// SAFETY: a chunk belongs to whoever set its bit, which only succeeds for a clear one; a page is
// split anew only while nothing of it is reserved; a run belongs to whoever changed the states of
// all of its pages from free.
unsafe impl DeviceAlloc for ScatterAlloc {
    type Memory = Words;
    const NAME: &'static str = "ScatterAlloc";
    const LEAN_REGISTERS: u32 = 40;
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
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let group = Group::here();
        let quick = if group.is_full() {
            self.quick(group.full(), granules, align)
        } else {
            self.quick(group, granules, align)
        };
        let mut answer = Chunk {
            granule: quick.granule,
            code: 0,
        };
        if quick.rest {
            answer = self.serve(group, granules, align, quick);
        }
        let block = DevicePtr::from_granule(answer.granule);
        // The handle tells, not the code, of which the quick way knows that it is zero: that would be
        // another value to keep.
        if block.is_null() {
            fail(self.words, layout, AllocError::from_code(answer.code))
        } else {
            Ok(block)
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        let group = Group::here();
        group.release();
        let small = self.chunk_of_layout(layout) <= self.geometry.page_granules();
        self.free_chunks(group, small & !ptr.is_null(), ptr.granule());
        if !small & !ptr.is_null() {
            self.free_run(
                self.geometry.page_of(ptr.granule()),
                self.geometry.pages_for(layout::granules(layout)),
            );
        }
    }

    /// Stays in place where the chunk or the run of pages fits the new size without wasting more
    /// than a fresh request would accept.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let new = layout::aligned(new_size, old.align());
        let (old_chunk, new_chunk) = (self.chunk_of_layout(old), self.chunk_of_layout(new));
        let page_granules = self.geometry.page_granules();
        let stays = if old_chunk <= page_granules && new_chunk <= page_granules {
            let page = self.geometry.page_of(ptr.granule());
            let chunk = chunk_of(self.words.load(self.geometry.state_word(page)));
            self.geometry
                .fits(chunk, new_chunk, layout::align_granules(new))
        } else {
            old_chunk > page_granules
                && new_chunk > page_granules
                && new_chunk != u32::MAX
                && self.geometry.pages_for(layout::granules(old))
                    == self.geometry.pages_for(layout::granules(new))
        };
        if stays {
            return Ok(ptr);
        }
        // SAFETY: the caller's promise.
        unsafe { self.move_block(ptr, old, new_size) }
    }

    /// The chunk that a free page is split into, or whole pages. A page that others have split may have larger chunks.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let geometry = self.geometry;
        let chunk = self.chunk_of_layout(layout);
        let small = self.is_small(chunk, layout::align_granules(layout));
        let pages = geometry.pages_for(layout::granules(layout)) << geometry.page_shift();
        let possible = small | (chunk != u32::MAX);
        layout::with_granules(layout, select(possible, select(small, chunk, pages), 0))
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
