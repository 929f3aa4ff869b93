//! The allocators: one file (or folder) each, on the layers `sync` and `bits`.
//!
//! A new allocator is one file here, its host side in `crate::host`, and one line in the list of
//! `#[kernel(allocators = all)]`.

pub(crate) mod bump;
pub(crate) mod cuda_malloc;
pub(crate) mod direct;
pub(crate) mod fdg;
mod frontier;
pub(crate) mod gallatin;
pub(crate) mod lists;
pub(crate) mod ouroboros;
pub(crate) mod random_walk;
pub(crate) mod scatter;
pub(crate) mod warp_heap;

pub use bump::Bump;
pub use cuda_malloc::CudaMalloc;
pub use direct::DirectOutput;
pub use fdg::FdgMalloc;
pub use gallatin::Gallatin;
pub use lists::{MpList, SegmentLists, SizeList};
pub use ouroboros::{
    Ouroboros, OuroborosCS, OuroborosCVA, OuroborosCVL, OuroborosMixed, OuroborosPS, OuroborosPVA,
    OuroborosPVL,
};
pub use random_walk::{
    ClusteredWalk, CollaborativeWalk, PageWalk, RandomWalk, RandomWalkBitmap, RandomWalkMalloc,
};
pub use scatter::ScatterAlloc;
pub use warp_heap::WarpHeap;

use crate::arch::Group;
use crate::sync::Team;
use warpheap_api::{AllocError, HeapMemory, header};

/// Calls the macro `then` with the names of the library's allocators, separated by commas: the list of
/// `#[kernel(allocators = all)]`, for host code that does something for each of them.
#[macro_export]
macro_rules! for_each_allocator {
    ($then:ident) => {
        $then! {
            Bump, ScatterAlloc, WarpHeap, OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS,
            OuroborosCVA, OuroborosCVL, Gallatin, RandomWalk, RandomWalkBitmap, CollaborativeWalk,
            ClusteredWalk, RandomWalkMalloc, SizeList, MpList, DirectOutput
        }
    };
}

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
