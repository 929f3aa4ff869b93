//! The allocators: a folder each, on the layers `sync` and `bits`, with the host's half in its `host`.
//!
//! The folders and the names that they give are rows of `warpheap-allocators`. A new allocator is a folder here and a row there:
//! `docs/new-allocator.md` walks through one.

pub(crate) mod fdg;
mod frontier;

/// A module for each folder, and the allocators in it.
macro_rules! folders {
    ([] $($folder:ident { $($name:ident { $($fields:tt)* })* })*) => {$(
        pub(crate) mod $folder;
    )*

        /// The allocators as they are, whatever the environment variable `WARPHEAP_CHECK` says.
        #[doc(hidden)]
        pub mod plain {$(
            pub use super::$folder::{$($name),*};
        )*}
    };
}
warpheap_allocators::rows! { [folders] }

pub use fdg::FdgMalloc;
pub use lists::SegmentLists;
pub use ouroboros::Ouroboros;
#[doc(inline)]
pub use plain::*;
pub use random_walk::PageWalk;
pub use warp_heap::{WarpHeap32, WarpHeap64, WideWarpHeap};

use crate::arch::Group;
use crate::sync::Team;
use warpheap_api::{AllocError, HeapMemory, Layout, header, layout};

/// WarpHeap in [`Checked`](crate::adaptor::Checked): this was built with the environment variable `WARPHEAP_CHECK=1`.
// It shadows the one of `plain`. All that names the allocator, a program or an attribute, names it by this module.
#[cfg(warpheap_check)]
pub type WarpHeap = crate::adaptor::Checked<plain::WarpHeap, crate::adaptor::ByVariable>;

/// Counts a request that failed in the heap header, and what it asked for if there was nothing, and passes the cause on. Lanes
/// that fail here together add once for each cause and size: where a launch runs out of memory, all its lanes meet on these words.
#[inline(always)]
pub(crate) fn fail<M: HeapMemory, T>(
    memory: M,
    layout: Layout,
    cause: AllocError,
) -> Result<T, AllocError> {
    let (code, granules) = (cause.code(), layout::granules(layout));
    let team = Team::by_key(Group::here(), granules << 2 | code);
    if team.leads() {
        memory.fetch_add(header::WORD_FAILURES + code as usize, team.count());
        if code == AllocError::Exhausted.code() {
            add_refused(memory, granules, team.count() << memory.granule_shift());
        }
    }
    Err(cause)
}

/// Takes a request back that was counted as one for which there was nothing, since it is made again.
#[inline(always)]
pub(crate) fn unfail<M: HeapMemory>(memory: M, layout: Layout) {
    let code = AllocError::Exhausted.code() as usize;
    memory.fetch_sub(header::WORD_FAILURES + code, 1);
    let granules = layout::granules(layout);
    let before = memory.fetch_sub(header::WORD_REFUSED, granules);
    memory.fetch_sub(header::WORD_REFUSED + 1, (before < granules) as u32);
}

/// Adds so many times 16 bytes so often. By words: not all devices have numbers of 64 bits.
#[inline(always)]
fn add_refused<M: HeapMemory>(memory: M, granules: u32, times: u32) {
    let low = granules.wrapping_mul(times);
    let high = ((granules >> 16) * times + (((granules & 0xffff) * times) >> 16)) >> 16;
    let before = memory.fetch_add(header::WORD_REFUSED, low);
    let high = high + (before > u32::MAX - low) as u32;
    if high != 0 {
        memory.fetch_add(header::WORD_REFUSED + 1, high);
    }
}
