//! What some families have more than the others.

use crate::{AllocError, DeviceAlloc, DevicePtr, HeapMemory, LaneMask};
use core::alloc::Layout;

/// What a lane that has part in an arena holds: the handle of the block that describes the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Arena(DevicePtr<u8>);

impl Arena {
    /// Of a lane that has part in none.
    pub const NONE: Arena = Arena(DevicePtr::NULL);

    /// The arena that this block describes. An allocator makes these; what a lane makes up is refused.
    #[inline(always)]
    pub const fn from_ptr(ptr: DevicePtr<u8>) -> Self {
        Arena(ptr)
    }

    /// The block that describes it.
    #[inline(always)]
    pub const fn ptr(self) -> DevicePtr<u8> {
        self.0
    }
}

/// Warp-wide arenas in the manner of FDGMalloc: the lanes of a warp take memory for themselves, block by
/// block, and give all of it back at once.
///
/// All calls are warp-collective: lanes that make them together share the work. They need not all come
/// together; a lane that comes alone is served alone.
///
/// A lane has part in the arena that it got from [`start`](Self::start) (or
/// [`take_over`](Self::take_over)), and leaves it by one of the clean-ups, each of which takes
/// effect when the *last* lane that has part in the arena makes the call. All of them make the same one.
///
/// # Misuse
/// A call of a lane that has no part in the arena (it did not call `start`, has left, is of another warp,
/// or the arena has ended) does nothing: requests fail with [`AllocError::Unsupported`], and
/// implementors count it where the host can read it. An arena whose lanes do not all leave stays, with all
/// its memory.
///
/// # Safety
/// Implementors keep the promises of [`DeviceAlloc`] for every block until its arena is tidied up or ends.
pub unsafe trait WarpArena: DeviceAlloc {
    /// Opens an arena for the lanes of the warp that are active at this point.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], the same in every lane.
    ///
    /// # Safety
    /// The active lanes of the warp reach this call together.
    unsafe fn start(self) -> Result<Arena, AllocError>;

    /// Allocates a block from the arena for each active lane. It needs no free, and has none.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], for each lane by itself; `Unsupported` is misuse as well.
    ///
    /// # Safety
    /// The active lanes of the warp reach this call together. `arena` came from this heap.
    unsafe fn alloc(self, arena: Arena, layout: Layout) -> Result<DevicePtr<u8>, AllocError>;

    /// The lanes that have part in the arena; none after misuse.
    fn lanes(self, arena: Arena) -> LaneMask;

    /// Gives back all memory of the arena and keeps it open. True for the lanes that made the last call:
    /// the blocks are gone. A lane that gets false has to wait for the others (a barrier of the arena's
    /// [`lanes`](Self::lanes) is enough) before it allocates again.
    ///
    /// # Safety
    /// As [`alloc`](Self::alloc); no lane uses a block of the arena any more.
    unsafe fn tidy_up(self, arena: Arena) -> bool;

    /// Gives back all memory of the arena and closes it. True for the lanes that made the last call.
    ///
    /// # Safety
    /// As [`tidy_up`](Self::tidy_up).
    unsafe fn end(self, arena: Arena) -> bool;

    /// Leaves the arena and its blocks for a later kernel: the handle to give to
    /// [`take_over`](Self::take_over), the same for all lanes; null after misuse.
    ///
    /// # Safety
    /// As [`alloc`](Self::alloc).
    unsafe fn hand_over(self, arena: Arena) -> DevicePtr<u8>;

    /// Has part in an arena that was handed over, the active lanes of the warp that give the same handle
    /// together; its blocks are as they were left.
    ///
    /// # Errors
    /// [`AllocError::Unsupported`] if the handle is of no arena that was handed over by all its lanes, or
    /// somebody took it over before.
    ///
    /// # Safety
    /// The active lanes of the warp reach this call together. `handle` came from
    /// [`hand_over`](Self::hand_over) of this heap, in an earlier launch, and no lane has ended the arena or tidied it
    /// up since: where lanes with the same handle may come apart, they meet in a barrier behind this call.
    unsafe fn take_over(self, handle: DevicePtr<u8>) -> Result<Arena, AllocError>;
}

/// Allocation by a whole block (workgroup), which every allocator has: one lane calls it, and all
/// lanes get its answer.
///
/// The calls are block-collective: every lane of the block reaches them, with the same arguments,
/// also lanes that have nothing else to do. A lane that returned from its kernel before, or went
/// another way, leaves the others waiting, which is undefined on a device and an error in the
/// emulator.
///
/// # Safety
/// As [`DeviceAlloc`].
pub unsafe trait BlockAlloc: DeviceAlloc {
    /// One block of memory for all lanes of the workgroup: each gets the same handle.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], the same in every lane. They count as one.
    ///
    /// # Safety
    /// All lanes of the workgroup reach this call, with the same layout.
    #[inline(always)]
    unsafe fn malloc_block(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let memory = self.memory();
        let mut answer = DevicePtr::<u8>::NULL.granule();
        let mut code = 0;
        if memory.index_in_block() == CALLER {
            match self.malloc(layout) {
                Ok(ptr) => {
                    // Told here, where it is known who stands for all.
                    memory.note_malloc(ptr, layout);
                    answer = ptr.granule();
                }
                Err(error) => code = error.code(),
            }
        }
        let ptr = DevicePtr::<u8>::from_granule(memory.block_broadcast(answer, CALLER));
        // The same for all lanes, so all of them take this way or none does.
        if ptr.is_null() {
            code = memory.block_broadcast(code, CALLER);
        }
        if !ptr.is_null() {
            Ok(ptr)
        } else {
            Err(AllocError::from_code(code))
        }
    }

    /// Takes one block of memory back from all lanes of the workgroup, once all of them have come
    /// here: they may use it until they call. The null handle is ignored.
    ///
    /// # Safety
    /// As [`DeviceAlloc::free`]; all lanes of the workgroup reach this call, with the same `ptr`
    /// and `layout`.
    #[inline(always)]
    unsafe fn free_block(self, ptr: DevicePtr<u8>, layout: Layout) {
        let memory = self.memory();
        memory.block_barrier();
        if memory.index_in_block() == CALLER {
            if !ptr.is_null() {
                memory.note_free(ptr, layout);
            }
            // SAFETY: the caller's promise; the barrier stands between every lane's use and this.
            unsafe { self.free(ptr, layout) }
        }
    }
}

/// The lane of a block that calls the allocator for all.
const CALLER: u32 = 0;

// SAFETY: the provided methods hand out what `malloc` handed out to one lane, and free it once.
unsafe impl<A: DeviceAlloc> BlockAlloc for A {}

/// Freeing everything at once, from a kernel.
///
/// # Safety
/// After `reset` the allocator behaves as on a fresh heap; counts of failures and the adaptor's counters
/// are zero.
pub unsafe trait Reset: DeviceAlloc {
    /// Frees every block of the heap. Each lane of the launch does its share, which is one of the
    /// metadata: what blocks hold is not touched.
    ///
    /// # Safety
    /// Every lane of the launch calls this once with its own `index` below `count`, no lane uses
    /// the heap otherwise during the launch, and no block is used afterwards.
    unsafe fn reset(self, index: u32, count: u32);
}

/// What a heap, or a share of it, holds at one moment. In granules, of which a heap has
/// fewer than 2^32: 16 bytes, times two to the power of [`DeviceAlloc::GRANULE_SHIFT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapUsage {
    /// Granules of blocks in use, as the allocator rounds them.
    pub used_granules: u32,
    /// Granules that no use is tied to.
    pub free_granules: u32,
    /// Blocks in use.
    pub live_blocks: u32,
}

/// What the metadata say is in use, from inside a kernel and at any time.
pub trait HeapStats: DeviceAlloc {
    /// What the share with this `index` of `count` holds: the metadata are split evenly, and the sums
    /// over all shares are the heap's. One lane alone passes 0 and 1, the lanes of a launch their index
    /// and number.
    ///
    /// Other lanes may be changing it. Figures are then of no single moment, but none is more than the
    /// share has; once they rest, all are exact.
    fn usage(self, index: u32, count: u32) -> HeapUsage;
}

/// How much was handed out and taken back so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapCounts {
    /// Blocks handed out so far, modulo 2^32.
    pub mallocs: u32,
    /// Blocks taken back so far, modulo 2^32.
    pub frees: u32,
}

/// Counters that a kernel can read at any time; the adaptor `Counted` has them.
pub trait HeapCounters: DeviceAlloc {
    /// The counts as they are now; other lanes may be changing them.
    fn counts(self) -> HeapCounts;
}
