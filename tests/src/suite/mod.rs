//! The tests. Each is a function of an allocator and a [`Site`](crate::Site).
//!
//! | module | what holds |
//! |---|---|
//! | [`blocks`] | blocks are as large and as aligned as asked for, disjoint, and keep their contents |
//! | [`lifetime`] | they live until they are freed, by whichever lane, and their memory is used again |
//! | [`branches`] | lanes allocate and free in different branches |
//! | [`exhaustion`] | a full heap says so, and is usable again after frees |
//! | [`resize`] | realloc |
//! | [`compaction`] | blocks that move out of nearly empty regions |
//! | [`rounded`] | the layout of the whole block |
//! | [`warp`] | the calls that a warp makes together |
//! | [`workgroup`] | the calls that a block of lanes makes together |
//! | [`vectors`] | `HeapVec` |
//! | [`random`] | random programs |
//! | [`counted`] | `Counted` and statistics read in kernels |
//! | [`pools`] | pools: bad sizes, statistics |
//! | [`growth`] | pools that get another size |
//! | [`forward`] | lanes fail for lack of room and nothing else (of allocators that only move forward) |
//! | [`whole`] | what kernels do with a whole heap (of allocators that have it) |
//! | [`launches`] | launches: errors of kernels, bad shapes (of no allocator) |
//! | [`snapshots`] | the parts of a heap at one moment |
//! | [`streams`] | launches and copies that the host does not wait for |
//! | [`explore`] | programs under schedules that the emulator explores (emulator only) |

pub mod blocks;
pub mod branches;
pub mod compaction;
pub mod counted;
pub mod exhaustion;
pub mod explore;
pub mod forward;
pub mod growth;
pub mod launches;
pub mod lifetime;
pub mod pools;
pub mod random;
pub mod resize;
pub mod rounded;
pub mod snapshots;
pub mod streams;
pub mod vectors;
pub mod warp;
pub mod whole;
pub mod workgroup;

use warpheap_api::header;
use warpheap_api::host::{HostAlloc, PlanError};
use warpheap_rt::adaptor::Counted;
use warpheap_test_kernels as kernels;

/// An allocator that the suite's kernels are compiled for: every one of the library's list.
pub trait Subject:
    HostAlloc
    + kernels::program::RunProgramsEntry
    + kernels::program::StepMallocsEntry
    + kernels::program::StepCallocsEntry
    + kernels::program::StepResizesEntry
    + kernels::program::StepMovesEntry
    + kernels::handover::HandOverEntry
    + kernels::handover::HandOverOnceEntry
    + kernels::handover::EmptyBoxesEntry
    + kernels::branches::PushInBranchesEntry
    + kernels::branches::FreeInBranchesEntry
    + kernels::branches::RoundInBranchesEntry
    + kernels::warp::WarpCallsEntry
    + kernels::warp::WarpSharesEntry
    + kernels::workgroup::BlockCallsEntry
    + kernels::vectors::UseVectorsEntry
    + kernels::vectors::SizeVectorsEntry
    + kernels::vectors::NestEntry
    + kernels::vectors::SumNestedEntry
{
    /// The allocator with counts.
    type Counted: kernels::program::StepCountedEntry + kernels::counts::ReadCountsEntry;
}

impl<A> Subject for A
where
    A: HostAlloc
        + kernels::program::RunProgramsEntry
        + kernels::program::StepMallocsEntry
        + kernels::program::StepCallocsEntry
        + kernels::program::StepResizesEntry
        + kernels::program::StepMovesEntry
        + kernels::handover::HandOverEntry
        + kernels::handover::HandOverOnceEntry
        + kernels::handover::EmptyBoxesEntry
        + kernels::branches::PushInBranchesEntry
        + kernels::branches::FreeInBranchesEntry
        + kernels::branches::RoundInBranchesEntry
        + kernels::warp::WarpCallsEntry
        + kernels::warp::WarpSharesEntry
        + kernels::workgroup::BlockCallsEntry
        + kernels::vectors::UseVectorsEntry
        + kernels::vectors::SizeVectorsEntry
        + kernels::vectors::NestEntry
        + kernels::vectors::SumNestedEntry,
    Counted<A>: kernels::program::StepCountedEntry + kernels::counts::ReadCountsEntry,
{
    type Counted = Counted<A>;
}

/// Bytes of a heap in which nothing of the suite fails for lack of room.
pub const ROOMY: u64 = 64 << 20;

/// Bytes of the smallest heap that the allocator takes.
pub fn least<A: HostAlloc>() -> u64 {
    let header = header::HEADER_WORDS as u64 * 4 + 16;
    match A::plan(header, &A::Config::default()) {
        Ok(_) => header,
        Err(PlanError::TooSmall { least, .. }) => least,
        Err(other) => panic!("{}: a heap of {header} bytes: {other}", A::NAME),
    }
}

/// Bytes of a heap that is soon full: of a thousand blocks of a thousandth of it.
pub fn tight<A: HostAlloc>() -> u64 {
    (least::<A>() + (128 << 10).max(1024 * coarse::<A>())) & !15
}

/// Bytes of a heap with room for a few times `blocks` blocks, whatever their size.
pub fn roomy<A: HostAlloc>(blocks: usize) -> u64 {
    ROOMY.max(2 * blocks as u64 * A::LEAST_BLOCK)
}

/// Bytes of a heap that is full with so many blocks, of an allocator whose blocks are large; of others a
/// [`tight`] one.
pub fn full_with<A: HostAlloc>(blocks: u64) -> u64 {
    match coarse::<A>() {
        0 => tight::<A>(),
        block => least::<A>() + blocks * block,
    }
}

/// The least block of allocators for which that is more than a granule; 0 for others.
fn coarse<A: HostAlloc>() -> u64 {
    match A::LEAST_BLOCK {
        ..=16 => 0,
        block => block,
    }
}

/// A size that is served, as near to `size` as there are blocks that do not waste more than others.
pub fn fitting<A: HostAlloc>(size: u64) -> u64 {
    let block = coarse::<A>().max(1);
    (size / block * block).max(block).min(A::CAPS.max_size)
}

/// A size of which a tight heap holds about a thousand blocks.
pub fn thousandth<A: HostAlloc>(pool: &warpheap_api::host::Pool<A>) -> u64 {
    fitting::<A>((usable(pool) / 1000).max(64))
}

/// Bytes of a heap that one request can take at most.
pub fn usable<A: HostAlloc>(pool: &warpheap_api::host::Pool<A>) -> u64 {
    pool.bytes() - pool.metadata_bytes()
}
