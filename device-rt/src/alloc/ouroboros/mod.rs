//! Ouroboros: queues of free memory that lie in the memory they manage.
//!
//! Winter, Mlakar, Parger, Steinberger, *Ouroboros: Virtualized Queues for Dynamic Memory Management on
//! GPUs* (2020). Memory is a row of equal *chunks*; a chunk is split into equal *pages*, powers of two,
//! or holds entries of a queue. Every page size has a queue, either of free pages (§4.1) or of chunks with
//! free pages (§4.2), which lies beside the chunks or in chunks itself (§5).
//!
//! | file | what |
//! |---|---|
//! | `geometry` | where metadata and chunks lie, and which chunks serve which sizes |
//! | `manager` | the chunk manager |
//! | `chunk` | the header of a chunk: its free pages |
//! | `semaphore` | the bulk semaphore |
//! | `serve` | a warp's requests, in rounds |
//! | `queue` | what a queue is |
//! | `places`, `enqueue`, `grow` | what the queues share: places of entries, writing entries, adding queue chunks |
//! | `standard`, `array`, `linked` | the three queues |
//! | `pages`, `chunks` | what the queues manage |
//! | `slots` | chunks between their queue and requests |
//! | `mixed` | instances of different kinds in one heap |
//!
//! What differs from the paper: the lanes of a warp that ask for the same page size act as one; a
//! chunk's header lies in a table, so that pages are aligned to their size; nobody waits without a bound;
//! pages that a queue has no place for are kept in their chunk's bits; and when no chunk is left, those
//! that others do not need are collected.

mod array;
mod chunk;
mod chunks;
mod enqueue;
mod geometry;
mod grow;
mod linked;
mod manager;
mod mixed;
mod pages;
mod places;
mod queue;
mod semaphore;
mod serve;
mod slots;
mod standard;

pub use array::VirtualArray;
pub use chunks::Chunks;
pub use linked::VirtualLinked;
pub use mixed::OuroborosMixed;
pub use pages::Pages;
pub use queue::Queue;
pub use standard::Standard;

pub(crate) use chunk::{QUEUE, count_of, tag_of};
pub(crate) use geometry::{
    Geometry, HEAD_COUNT, HEAD_FIRST, HEAD_FREE, HEAD_NEWEST, HEAD_ROOM, HEAD_WORDS, HEADER_WORDS,
    HEADS_WORD, MOST_PAGES, NONE, PARAM_BITS, PARAM_CHUNKS, PARAM_DATA, PARAM_HEADERS,
    PARAM_QUEUE_LOG, PARAM_QUEUES, PARAM_SHAPE, PARAM_TRAIL, pack_shape,
};

use super::fail;
use crate::arch::{Group, Words};
use core::marker::PhantomData;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapParams, Layout, layout, least, select,
};

/// Granules of the largest page of any heap: 16 GiB.
pub(crate) const MOST_GRANULES: u32 = 1 << 30;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;

/// The allocator of the paper: what its queues manage, and where they lie.
pub struct Ouroboros<S, Q> {
    core: Core,
    kind: PhantomData<fn() -> (S, Q)>,
}

/// Pages, standard queue.
pub type OuroborosPS = Ouroboros<Pages, Standard>;
/// Pages, virtualised array-hierarchy queue.
pub type OuroborosPVA = Ouroboros<Pages, VirtualArray>;
/// Pages, virtualised linked-chunk queue.
pub type OuroborosPVL = Ouroboros<Pages, VirtualLinked>;
/// Chunks, standard queue.
pub type OuroborosCS = Ouroboros<Chunks, Standard>;
/// Chunks, virtualised array-hierarchy queue.
pub type OuroborosCVA = Ouroboros<Chunks, VirtualArray>;
/// Chunks, virtualised linked-chunk queue.
pub type OuroborosCVL = Ouroboros<Chunks, VirtualLinked>;

impl<S, Q> Clone for Ouroboros<S, Q> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, Q> Copy for Ouroboros<S, Q> {}

/// What does not depend on strategy and queue.
#[derive(Clone, Copy)]
pub struct Core {
    words: Words,
    geometry: Geometry,
    /// The first class that this instance serves.
    first: u32,
    /// The class behind the last one.
    end: u32,
}

/// What queues manage: [`Pages`] or [`Chunks`]. There is nothing to implement outside.
pub trait Strategy: Copy + 'static {
    /// Number of the strategy of the two.
    #[doc(hidden)]
    const INDEX: u32;
    /// Whether queues hold pages.
    #[doc(hidden)]
    const PAGES: bool;

    /// Up to `wanted` pages for the team of the calling lane; not from entries that others are still
    /// writing, if `elsewhere`.
    #[doc(hidden)]
    fn obtain<Q: Queue>(heap: Ouroboros<Self, Q>, class: u32, wanted: u32, elsewhere: bool)
    -> Deal;

    /// Collective: takes pages back, one from each lane of the group that is `live`.
    #[doc(hidden)]
    fn release<Q: Queue>(
        heap: Ouroboros<Self, Q>,
        group: Group,
        live: bool,
        class: u32,
        granule: u32,
    );

    /// Gives chunks back to the manager that are not needed, as far as they are found; whether there
    /// was one.
    #[doc(hidden)]
    fn collect<Q: Queue>(heap: Ouroboros<Self, Q>) -> bool;

    /// Keeps an entry for which the queue has no place.
    #[doc(hidden)]
    fn keep<Q: Queue>(heap: Ouroboros<Self, Q>, class: u32, entry: u32);
}

/// What a team's leader got for it.
#[derive(Clone, Copy)]
pub struct Deal {
    /// One of the constants.
    kind: u32,
    /// The first position, or the granule of the first page, or an error's code.
    base: u32,
    /// How many, or which of 32.
    mask: u32,
    /// A fresh chunk.
    chunk: u32,
    /// Pages of the fresh chunk that are left.
    surplus: u32,
    /// Pages that were announced.
    announced: u32,
    /// A chunk that goes into the queue.
    list: u32,
}

impl Deal {
    const NOTHING: Deal = Deal {
        kind: 0,
        base: 0,
        mask: 0,
        chunk: NONE,
        surplus: 0,
        announced: 0,
        list: NONE,
    };
    /// Positions of the queue whose entries are pages.
    const POSITIONS: u32 = 1;
    /// Pages by their bits.
    const BITS: u32 = 2;
    /// No pages, and no use in trying again.
    const FAILED: u32 = 3;
}

impl<S: Strategy, Q: Queue> HeapHandle for Ouroboros<S, Q> {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        let geometry = Geometry::new(params);
        Ouroboros {
            core: Core {
                words,
                geometry,
                first: 0,
                end: geometry.classes(),
            },
            kind: PhantomData,
        }
    }
}

impl Core {
    /// Classes of the base instance, whose pages are no larger than its chunks.
    #[inline(always)]
    fn base_classes(self) -> u32 {
        self.geometry.chunk_log() - self.geometry.page_log(0) + 1
    }
}

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// The code of a request: `code` if a page of the heap fits.
    #[inline(always)]
    fn code(self, fits: bool, possible: bool, code: u32) -> u32 {
        let refused = select(
            possible,
            AllocError::Exhausted.code(),
            AllocError::Unsupported.code(),
        );
        select(fits, code, refused)
    }

    /// The class of a request, whether a page of this heap can hold it, and whether one of any heap can.
    #[inline(always)]
    fn class_of(self, layout: Layout) -> (u32, bool, bool) {
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let possible = (granules <= MOST_GRANULES) & (align <= MOST_ALIGN);
        let class = self
            .core
            .geometry
            .class_of(select(possible, granules, 1), least(align, MOST_ALIGN));
        let fits = possible & (class < self.core.geometry.classes());
        (select(fits, class, 0), fits, possible)
    }
}

// SAFETY: a page belongs to whoever took it from a queue, which hands each entry out once, or cleared
// its bit, which succeeds for one; a chunk gets another use only while all of its pages are free in its bits
// and none of them is reserved.
unsafe impl<S: Strategy, Q: Queue> DeviceAlloc for Ouroboros<S, Q> {
    type Memory = Words;
    const NAME: &'static str = Q::NAMES[S::INDEX as usize];
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_ALIGN * 16,
        max_size: MOST_GRANULES as u64 * 16,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.core.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let group = Group::here();
        let (class, fits, possible) = self.class_of(layout);
        let (granule, code) = self.serve(group, fits, class);
        group.acquire();
        let code = self.code(fits, possible, code);
        if code == 0 {
            Ok(DevicePtr::from_granule(granule))
        } else {
            fail(self.core.words, layout, AllocError::from_code(code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        let group = Group::here();
        group.release();
        let (class, fits, _) = self.class_of(layout);
        S::release(self, group, fits & !ptr.is_null(), class, ptr.granule());
    }

    /// Stays in place where the page holds the new size and a fresh request would get one as large.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let (was, ..) = self.class_of(old);
        let (is, fits, _) = self.class_of(layout::aligned(new_size, old.align()));
        if fits & (was == is) {
            return Ok(ptr);
        }
        // SAFETY: the caller's promise.
        unsafe { self.move_block(ptr, old, new_size) }
    }

    /// A page of the class.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let (class, fits, _) = self.class_of(layout);
        let page = 1 << self.core.geometry.page_log(class);
        layout::with_granules(layout, select(fits, page, 0))
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
