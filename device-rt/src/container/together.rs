//! Lanes that go the same way: a group of a warp, or all lanes of a block.

use crate::sync::Group;
use crate::{Heap, arch};
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, Layout};

/// Lanes that have a container together, each knowing how many they are and which of them it is: a [`Group`] of a
/// warp or a [`WholeBlock`].
///
/// Every method that says *collective* is reached by all of these lanes and no others, in the same order.
pub trait Together: Copy {
    /// Number of lanes, at least 1.
    fn count(self) -> u32;

    /// Which of them the calling lane is, from 0 on.
    fn rank(self) -> u32;

    /// Collective: waits for all lanes, and orders their memory accesses among themselves.
    ///
    /// # Safety
    /// All of the lanes reach this call.
    unsafe fn barrier(self);

    /// Collective: one block for all of the lanes. Orders their memory accesses as a [`barrier`](Self::barrier).
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], the same in every lane.
    ///
    /// # Safety
    /// All of the lanes reach this call, with the same layout.
    unsafe fn malloc<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        layout: Layout,
    ) -> Result<DevicePtr<u8>, AllocError>;

    /// Collective: takes such a block back, once all lanes have come here. Null is ignored.
    ///
    /// # Safety
    /// All of the lanes reach this call, with the same block of this heap, which was got with this layout.
    unsafe fn free<A: DeviceAlloc>(self, heap: Heap<A>, ptr: DevicePtr<u8>, layout: Layout);
}

impl<const FULL: bool> Together for Group<FULL> {
    #[inline(always)]
    fn count(self) -> u32 {
        self.count()
    }
    #[inline(always)]
    fn rank(self) -> u32 {
        self.rank()
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn barrier(self) {
        self.barrier();
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn malloc<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        layout: Layout,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let (granule, code) = self.once(move || match heap.malloc(layout) {
            Ok(block) => (block.granule(), 0),
            Err(error) => (0, error.code()),
        });
        if code == 0 {
            Ok(DevicePtr::from_granule(granule))
        } else {
            Err(AllocError::from_code(code))
        }
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn free<A: DeviceAlloc>(self, heap: Heap<A>, ptr: DevicePtr<u8>, layout: Layout) {
        self.barrier();
        if self.leads() {
            // SAFETY: the caller's promise; nobody uses the block any more.
            unsafe { heap.free(ptr, layout) };
        }
    }
}

/// All lanes of the calling lane's block.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeBlock;

impl Together for WholeBlock {
    #[inline(always)]
    fn count(self) -> u32 {
        arch::block_dim()
    }
    #[inline(always)]
    fn rank(self) -> u32 {
        arch::thread_index()
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn barrier(self) {
        // SAFETY: the caller's promise.
        unsafe { arch::block_barrier() };
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn malloc<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        layout: Layout,
    ) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { heap.malloc_block(layout) }
    }
    #[inline(always)]
    #[track_caller]
    unsafe fn free<A: DeviceAlloc>(self, heap: Heap<A>, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { heap.free_block(ptr, layout) };
    }
}
