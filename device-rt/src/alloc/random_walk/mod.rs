//! Random walks: no list of free pages, no queue, no state that all lanes share. Who wants a page looks at
//! random ones until one is free. `docs/random-walk.md` walks one malloc and one free.
//!
//! Pham, Li, Yuan, Mou, Ramachandran, Xu, Tu, *Dynamic Buffer Management in Massively Parallel Systems: A
//! Case on GPUs*. Memory is equal *pages*; a request
//! takes a page, whatever it asks for up to that.
//!
//! | type | paper | a step looks at |
//! |---|---|---|
//! | [`RandomWalk`] | RW, §III | a page: each has a word of its own |
//! | [`RandomWalkBitmap`] | RW-BM, §IV-A | 32 pages: a word of a bitmap, under its lock |
//! | [`CollaborativeWalk`] | CoRW, §IV-B | as many such words as the warp has lanes, for all of them |
//! | [`ClusteredWalk`] | CRW, §IV-D | the page behind the lane's last one, then random pages |
//! | [`RandomWalkMalloc`] | RW_malloc, §IV-C | a region of the bitmap, for pages side by side |
//!
//! | file | what |
//! |---|---|
//! | `geometry` | where metadata and pages lie, and where walks begin |
//! | `dice` | random numbers |
//! | `walk` | each lane for itself: RW, RW-BM, CRW |
//! | `together` | the lanes of a warp together: CoRW |
//! | `sweep` | the end of walks that found nothing |
//! | `steps` | counting steps |
//! | `malloc` | RW_malloc |

mod dice;
mod geometry;
mod malloc;
mod steps;
mod sweep;
mod together;
mod walk;

pub(crate) use geometry::{
    FIRST_WORD, PARAM_COUNTS, PARAM_DATA, PARAM_HINTS, PARAM_MAP, PARAM_PAGES, PARAM_SHIFT,
    PARAM_SLOTS, PARAM_WALK, STEPS_WORD, STRIPE_WORDS, STRIPES, Tables, entries, entry_words,
};
pub use malloc::RandomWalkMalloc;
pub(crate) use malloc::geometry as units;
pub(crate) use steps::{MOST, REQUESTS, STEPS, WARPS};

use super::fail;
use crate::arch::Words;
use crate::sync::{Group, Team};
use geometry::Geometry;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, layout,
    select,
};

/// RW.
pub(crate) const SINGLE: u32 = 0;
/// RW-BM.
pub(crate) const BITMAP: u32 = 1;
/// CoRW.
pub(crate) const COLLABORATIVE: u32 = 2;
/// CRW.
pub(crate) const CLUSTERED: u32 = 3;

/// Whether a kind has a lock map.
#[inline(always)]
pub(crate) const fn has_locks(kind: u32) -> bool {
    (kind == BITMAP) | (kind == COLLABORATIVE)
}

/// Bytes of the largest page.
pub(crate) const MOST_PAGE_BYTES: u32 = 4096;

/// Instead of a page: none.
const NONE: u32 = u32::MAX;

/// Algorithm 1 of the paper (RW): a lock for each page, and each lane on a walk of its own.
pub type RandomWalk = PageWalk<SINGLE>;
/// Algorithm 2 (RW-BM): a bitmap of pages in use, and a lock for each of its words.
pub type RandomWalkBitmap = PageWalk<BITMAP>;
/// Algorithm 3 (CoRW): the lanes of a warp look together and share what they find.
pub type CollaborativeWalk = PageWalk<COLLABORATIVE>;
/// Algorithm 5 (CRW): each lane first tries the page behind its last one.
pub type ClusteredWalk = PageWalk<CLUSTERED>;

/// The page allocators of the paper, by kind: [`RandomWalk`], [`RandomWalkBitmap`], [`CollaborativeWalk`],
/// [`ClusteredWalk`].
#[derive(Clone, Copy)]
pub struct PageWalk<const KIND: u32> {
    words: Words,
    geometry: Geometry<KIND>,
}

/// What a lane found.
#[derive(Clone, Copy)]
struct Found {
    /// The page, or [`NONE`].
    page: u32,
    /// Steps that it took.
    steps: u32,
}

impl<const KIND: u32> HeapHandle for PageWalk<KIND> {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        PageWalk {
            words,
            geometry: Geometry::new(params),
        }
    }
}

// SAFETY: a page belongs to whoever set its bit (its lock), which only succeeds for a clear one.
unsafe impl<const KIND: u32> DeviceAlloc for PageWalk<KIND> {
    type Memory = Words;
    const NAME: &'static str = match KIND {
        SINGLE => "RandomWalk",
        BITMAP => "RandomWalkBitmap",
        COLLABORATIVE => "CollaborativeWalk",
        _ => "ClusteredWalk",
    };
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_PAGE_BYTES,
        max_size: MOST_PAGE_BYTES as u64,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let group = Group::here();
        let most = self.geometry.page_granules();
        // Pages lie at multiples of their size.
        let possible =
            (layout::granules(layout) <= most) & (layout::align_granules(layout) <= most);
        let mut found = if KIND == COLLABORATIVE {
            self.walk_together(group, possible)
        } else {
            self.walk_alone(group, possible)
        };
        let mut code = AllocError::Unsupported.code();
        let missing = group.ballot(possible & (found.page == NONE));
        if !missing.is_empty() {
            let (swept, cause) = self.sweep(group, missing, found);
            found = swept;
            code = select(possible, cause, code);
        }
        group.acquire();
        if self.geometry.counts {
            steps::count(self.words, group, found.steps);
        }
        if found.page != NONE {
            Ok(DevicePtr::from_granule(
                self.geometry.granule_of(found.page),
            ))
        } else {
            fail(self.words, layout, AllocError::from_code(code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, _layout: Layout) {
        let geometry = self.geometry;
        let live = !ptr.is_null();
        let page = geometry.page_of(select(live, ptr.granule(), geometry.granule_of(0)));
        let word = geometry.word(geometry.entry_of(page));
        let bit = 1 << geometry.bit_of(page);
        if KIND == COLLABORATIVE {
            // A warp's pages usually lie in one word.
            let group = Group::here();
            group.release();
            // No entry is word 0.
            let team = Team::by_key(group, select(live, word as u32, 0));
            let bits = team.union_to_leader(select(live, bit, 0));
            if live & team.leads() {
                self.words.fetch_and(word, !bits);
            }
        } else {
            // Each lane for its own page.
            self.words.release();
            if live {
                if KIND == SINGLE {
                    self.words.store(word, 0);
                } else {
                    self.words.fetch_and(word, !bit);
                }
            }
        }
    }

    /// Stays in place: every block is a page.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let new = layout::aligned(new_size, old.align());
        if layout::granules(new) <= self.geometry.page_granules() {
            return Ok(ptr);
        }
        fail(self.words, new, AllocError::Unsupported)
    }

    /// Every block is a page.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        layout::with_granules(layout, self.geometry.page_granules())
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
