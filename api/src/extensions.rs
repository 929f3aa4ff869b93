//! What some families have more than the others.

use crate::{AllocError, DeviceAlloc, DevicePtr};
use core::alloc::Layout;

/// Warp-wide arenas in the manner of FDGMalloc: each warp takes memory for itself and gives all of
/// it back at once.
///
/// # Safety
/// Implementors keep the promises of [`DeviceAlloc`] for every block until its arena ends.
pub unsafe trait WarpArena: DeviceAlloc {
    /// The handle of one warp's arena.
    type Arena: Copy;

    /// Opens an arena for the active lanes of the warp.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`].
    ///
    /// # Safety
    /// The active lanes of the warp reach this call together.
    unsafe fn start(self) -> Result<Self::Arena, AllocError>;

    /// Allocates from the arena.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`].
    ///
    /// # Safety
    /// `arena` came from [`start`](Self::start) in this warp and has not ended.
    unsafe fn alloc(self, arena: Self::Arena, layout: Layout) -> Result<DevicePtr<u8>, AllocError>;

    /// Gives back all memory of the arena but keeps it open.
    ///
    /// # Safety
    /// As [`alloc`](Self::alloc); no block of the arena is used any more.
    unsafe fn tidy_up(self, arena: Self::Arena);

    /// Gives back all memory of the arena and closes it.
    ///
    /// # Safety
    /// As [`tidy_up`](Self::tidy_up).
    unsafe fn end(self, arena: Self::Arena);
}

/// Allocation by a whole block (workgroup).
///
/// # Safety
/// As [`DeviceAlloc`].
pub unsafe trait BlockAlloc: DeviceAlloc {
    /// One block of memory for all lanes of the workgroup: each gets the same handle.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], the same in every lane.
    ///
    /// # Safety
    /// All lanes of the workgroup reach this call, with the same layout.
    unsafe fn malloc_block(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError>;
}

/// Freeing everything at once, from a kernel.
///
/// # Safety
/// After `reset` the allocator behaves as on a fresh heap.
pub unsafe trait Reset: DeviceAlloc {
    /// Frees every block of the heap. Each lane of the launch does its share.
    ///
    /// # Safety
    /// Every lane of the launch calls this once with its own `index` below `count`, no lane uses
    /// the heap otherwise during the launch, and no block is used afterwards.
    unsafe fn reset(self, index: u32, count: u32);
}

/// Counts that a kernel can read at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapCounts {
    /// Blocks handed out so far, modulo 2^32.
    pub mallocs: u32,
    /// Blocks taken back so far, modulo 2^32.
    pub frees: u32,
}

/// Statistics from inside a kernel.
pub trait HeapStats: DeviceAlloc {
    /// The counts as they are now; other lanes may be changing them.
    fn counts(self) -> HeapCounts;
}
