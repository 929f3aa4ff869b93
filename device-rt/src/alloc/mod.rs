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

use crate::arch::Group;
use crate::sync::Team;
use warpheap_api::{AllocError, HeapMemory, header};

/// WarpHeap in [`Checked`](crate::adaptor::Checked): this was built with the environment variable `WARPHEAP_CHECK=1`.
// It shadows the one of `plain`. All that names the allocator, a program or an attribute, names it by this module.
#[cfg(warpheap_check)]
pub type WarpHeap = crate::adaptor::Checked<plain::WarpHeap, crate::adaptor::ByVariable>;

/// Counts a failed request in the heap header and passes the cause on. Lanes that fail here together add once for
/// each cause: where a launch runs out of memory, all its lanes meet on these words.
#[inline(always)]
pub(crate) fn fail<M: HeapMemory, T>(memory: M, cause: AllocError) -> Result<T, AllocError> {
    let team = Team::by_key(Group::here(), cause.code());
    if team.leads() {
        memory.fetch_add(header::WORD_FAILURES + cause.code() as usize, team.count());
    }
    Err(cause)
}
