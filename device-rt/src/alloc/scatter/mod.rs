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
//! | `quick` | the way that most requests take, without loops |
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
mod quick;
mod run;
mod search;
mod state;

pub(crate) use geometry::{
    CURSOR_STRIDE, CURSOR_WORD, CURSORS, MAX_BLOCKS, MAX_PAGE_GRANULES, MAX_REGIONS, PARAM_BLOCKS,
    PARAM_DATA, PARAM_FILL, PARAM_FRAG, PARAM_K_MP, PARAM_K_SIZE, PARAM_PAGES, PARAM_SHIFTS,
    Tables, pack_shifts,
};
pub(crate) use state::{MULTI_HEAD, chunk_of, count_of, is_multi};

use super::fail;
use crate::arch::{self, Words};
use crate::bits::nth_set;
use geometry::Geometry;
use search::Held;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
    select,
};

/// Granules of the largest request: what handles reach, less room for additions not to wrap.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;

/// Rounds in which a team may lose its page to other lanes before it gives up.
const ROUNDS_LOST: u32 = 16;
/// In place of an error's code: look for another page.
const AGAIN: u32 = 0;

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
    fn chunk_for(self, layout: Layout) -> u32 {
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        // Pages begin at multiples of their size, so a chunk of a multiple of the alignment is
        // aligned in its page.
        let chunk = granules.wrapping_add(align - 1) & !(align - 1);
        select(granules > MOST_GRANULES, u32::MAX, chunk)
    }

    /// Serves the lanes with `small` requests: each gets the granule of its chunk, or an error's
    /// code.
    #[inline(always)]
    fn malloc_chunks(self, small: bool, chunk: u32, align: u32) -> Chunk {
        let lanes = arch::active();
        let lane = arch::lane();
        let chunk = select(small, chunk, 1);
        // Lanes with the same chunk, alignment and start page search as one.
        let slot = self.geometry.slot(chunk, arch::thread_index());
        let key = chunk | align.trailing_zeros() << 11 | slot << 15;
        let key = select(small, key, 0);
        let team = arch::match_any(lanes, key);
        let mut ask = self.ask(chunk, align, team.count());
        let leader = team.first();
        let mut held = Held::NONE;
        let mut part = Part::NONE;
        let mut filled = false;
        if small & (lane == leader) {
            held = self.take_at_once(ask, &mut part, &mut filled);
        }
        self.count_together(lanes, held.page, filled, 1);
        let mut answer = Chunk {
            granule: 0,
            code: 0,
        };
        let mut failures = 0;
        let mut pending = arch::ballot(lanes, small);
        // Every round serves a lane of each team that has pending ones, or fails the whole team, or
        // is one of few in which other lanes were faster.
        while !pending.is_empty() {
            let mine = pending.and(team);
            if (lane == leader) & (part.mask == 0) & !mine.is_empty() {
                if held.count == 0 {
                    ask.wanted = mine.count();
                    held = self.find(ask);
                }
                part.base = AllocError::Exhausted.code();
                if held.count != 0 {
                    self.claim(&mut held, &mut part);
                    ask.start = self.geometry.page_in_block(held.page);
                    ask.block = held.page >> self.geometry.block_shift();
                    ask.looked = false;
                    if part.mask == 0 {
                        self.give_back(held.page, held.count);
                        held.count = 0;
                        failures += 1;
                        let contended = AllocError::Contended.code();
                        part.base = select(failures < ROUNDS_LOST, AGAIN, contended);
                    }
                }
            }
            // The lanes parted; together again they shuffle faster.
            arch::warp_barrier(lanes);
            let base = arch::shuffle(lanes, part.base, leader);
            let mask = arch::shuffle(lanes, part.mask, leader);
            let size = arch::shuffle(lanes, part.chunk, leader);
            part.mask = 0;
            let waits = pending.contains(lane);
            let rank = mine.rank(lane);
            let served = waits & (rank < mask.count_ones());
            let failed = waits & (mask == 0) & (base != AGAIN);
            let granule = base.wrapping_add(nth_set(mask, rank).wrapping_mul(size));
            answer.granule = select(served, granule, answer.granule);
            answer.code = select(failed, base, answer.code);
            let waits = waits & !served & !failed;
            pending = arch::ballot(lanes, waits);
        }
        answer
    }
}

/// What the leader of a team has for its lanes.
#[derive(Clone, Copy)]
struct Part {
    /// Granule of the first of 32 chunks; an error's code if there is none.
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
        let chunk = self.chunk_for(layout);
        let align = layout::align_granules(layout);
        let possible = (chunk != u32::MAX) & (align <= MOST_ALIGN);
        let small = possible & (chunk <= self.geometry.page_granules());
        let mut answer = self.malloc_chunks(small, chunk, align);
        if possible & !small {
            answer = self.malloc_run(self.geometry.pages_for(layout::granules(layout)), align);
        }
        // What the one before did with the block happened before its free, which released.
        arch::acquire();
        answer.code = select(possible, answer.code, AllocError::Unsupported.code());
        if answer.code == 0 {
            Ok(DevicePtr::from_granule(answer.granule))
        } else {
            fail(self.words, AllocError::from_code(answer.code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        // Before the metadata say that the block is free, what its owner wrote must be visible.
        arch::release();
        let small = self.chunk_for(layout) <= self.geometry.page_granules();
        self.free_chunks(small & !ptr.is_null(), ptr.granule());
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
        let (old_chunk, new_chunk) = (self.chunk_for(old), self.chunk_for(new));
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
}
