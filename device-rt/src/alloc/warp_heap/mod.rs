//! WarpHeap: the library's own allocator and its default. `docs/warpheap.md` walks one malloc and one
//! free.
//!
//! The pool is a row of equal *chunks*. A chunk is a *slab* of blocks of one size class, or is
//! handed out in 32 *units*, or is part of a *run* of chunks. Every block has a bit; every chunk has a word
//! with its use and a count.
//!
//! | file | what |
//! |---|---|
//! | `class` | size classes |
//! | `geometry` | where metadata and chunks lie |
//! | `state` | the word of a chunk |
//! | `row` | what a size class uses |
//! | `quick` | the way that most requests take, without loops |
//! | `rest` | the other ways, and how they are called on CUDA |
//! | `window` | what lanes share that have no home |
//! | `look`, `look_units` | where they look for blocks, and for units |
//! | `search` | what the others do, one class at a time, all lanes of the warp together |
//! | `walk`, `lap` | how far a search has come; searches that warps share |
//! | `chunk` | getting a hold on a chunk, and giving one another use |
//! | `span` | where blocks of units lie |
//! | `units`, `run` | blocks larger than those of slabs |
//! | `release` | free |
//! | `resize` | realloc |
//! | `compact` | moving blocks out of chunks that are nearly empty |
//! | `reset` | freeing everything at once |
//! | `stats` | what is in use, for kernels |
//! | `wide` | heaps of larger granules |

mod chunk;
mod class;
mod compact;
mod geometry;
mod lap;
mod look;
mod look_units;
mod quick;
mod release;
mod reset;
mod resize;
mod rest;
mod row;
mod run;
mod search;
mod span;
mod state;
mod stats;
mod units;
mod walk;
mod wide;
mod window;

pub(crate) use class::Class;
pub(crate) use geometry::{
    CHUNK_SHIFTS, Geometry, PARAM_CHUNKS, PARAM_CURRENTS, PARAM_DATA, PARAM_DIRECTORY,
    PARAM_ENTRIES, PARAM_ENTRY_WORDS, PARAM_SHIFT, PARAM_SLOTS, Tables, WINDOWS_WORD, entry_words,
};
pub(crate) use state::{
    FREE, RUN, RUN_HEAD, SLAB_CLASSES, UNITS, count_of, is_idle, tag_for, use_of,
};

pub use wide::{WarpHeap32, WarpHeap64, WideWarpHeap};

use super::fail;
use crate::arch::{self, Group, Words};
use crate::sync::{self, Granules};
use quick::Quick;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
    select,
};

/// Granules of the largest request: what handles reach, less room for additions not to wrap.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;

/// The library's own allocator.
#[derive(Clone, Copy)]
pub struct WarpHeap {
    words: Words,
    geometry: Geometry,
}

/// A request in granules.
#[derive(Clone, Copy)]
struct Ask {
    /// Granules, a multiple of the alignment.
    granules: u32,
    /// Alignment in granules.
    align: u32,
    /// Whether any heap could serve it.
    possible: bool,
}

/// Blocks for the lanes of a team.
#[derive(Clone, Copy)]
struct Part {
    /// Granule of the block of bit 0.
    base: u32,
    /// Which of 32 blocks.
    mask: u32,
    /// Granules from one block to the next.
    stride: u32,
    /// Why there are none.
    code: u32,
}

impl Part {
    const NONE: Part = Part {
        base: 0,
        mask: 0,
        stride: 0,
        code: 0,
    };
}

/// What a lane got: a granule, or an error's code.
#[derive(Clone, Copy)]
struct Answer {
    granule: u32,
    code: u32,
}

impl HeapHandle for WarpHeap {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        WarpHeap {
            words,
            geometry: Geometry::new(params),
        }
    }
}

impl Ask {
    #[inline(always)]
    fn new(layout: Layout) -> Self {
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let possible = (granules <= MOST_GRANULES) & (align <= MOST_ALIGN);
        let rounded = granules.wrapping_add(align - 1) & !(align - 1);
        Ask {
            granules: select(possible, rounded, u32::MAX),
            align,
            possible,
        }
    }
}

impl WarpHeap {
    /// The class of a request that a slab serves; some class for others.
    #[inline(always)]
    fn class_of(self, ask: Ask) -> (bool, Class) {
        let slab = ask.granules <= self.geometry.most_in_slab();
        let granules = select(slab, ask.granules, 1);
        (slab, Class::of(granules, self.geometry.chunk_shift()))
    }
}

// SAFETY: a block belongs to whoever set its bits, which only succeeds for clear ones, while the count
// of the chunk says that its use does not change; a run belongs to whoever changed the words of all of its
// chunks.
unsafe impl DeviceAlloc for WarpHeap {
    type Memory = Words;
    const NAME: &'static str = "WarpHeap";
    const LEAN_REGISTERS: u32 = 32;
    const COMPACTS: bool = true;
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
        let ask = Ask::new(layout);
        let group = Group::here();
        let mut quick = Quick::UNTRIED;
        // Also where masks cost nothing: otherwise whole warps would go through all that `rest` stands for.
        if group.count() == arch::warp_width() {
            quick = self.quick_whole(group.full(), ask);
        }
        let mut answer = Answer {
            granule: quick.granule,
            code: 0,
        };
        if quick.serves {
            answer = self.serve(group, ask, quick);
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
        let ask = Ask::new(layout);
        let group = Group::here();
        // Not with constant masks for a full warp: nothing here is shorter with them.
        if self.free_quick(group, ask, ptr) {
            self.free_large(group, ask, ptr);
        }
    }

    /// The lanes of a warp write the zeros of all their blocks together.
    #[inline(always)]
    fn calloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let group = Group::here();
        let result = self.malloc(layout);
        let mut block = Granules {
            first: 0,
            number: 0,
        };
        if let Ok(ptr) = result {
            block.first = ptr.granule();
            block.number = layout::granules(layout) << self.words.granule_shift();
        }
        sync::fill::<false>(self.words, group, block, 0);
        result
    }

    /// In place where old and new size are of one class, or take the same units; else the lanes of a warp copy their
    /// blocks together.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.resize(Group::here(), ptr, old, new_size) }
    }

    #[inline(always)]
    fn begin_compaction(self, percent: u32, index: u32, count: u32) -> u32 {
        self.mark(percent, index, count)
    }

    #[inline(always)]
    unsafe fn relocate(self, ptr: DevicePtr<u8>, layout: Layout) -> DevicePtr<u8> {
        // SAFETY: the caller's promise.
        unsafe { self.move_out(Group::here(), ptr, layout) }
    }

    #[inline(always)]
    fn end_compaction(self, index: u32, count: u32) {
        self.unmark(index, count);
    }

    /// The blocks of a class, or whole units.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let ask = Ask::new(layout);
        let (slab, class) = self.class_of(ask);
        let units = self.units_of(ask) << self.geometry.unit_shift();
        let granules = select(slab, class.granules, units);
        layout::with_granules(layout, select(ask.possible, granules, 0))
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
