//! Realloc: blocks that stay where they are, and blocks that move.

use super::{Ask, WarpHeap};
use crate::arch::Group;
use crate::sync::{self, Move};
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapMemory, Layout, layout, least, select};

impl WarpHeap {
    /// Collective: gives each lane's block its new size, in place or by moving it.
    ///
    /// # Errors
    /// As [`realloc`](DeviceAlloc::realloc).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn resize(
        self,
        group: Group,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let new = layout::aligned(new_size, old.align());
        let (was, is) = (Ask::new(old), Ask::new(new));
        let stays = self.stays(was, is);
        let mut result = Ok(ptr);
        let mut to = ptr;
        if !stays {
            result = self.malloc(new);
            if let Ok(moved) = result {
                to = moved;
            }
        }
        let kept = least(layout::granules(old), layout::granules(new));
        // SAFETY: the caller's promise.
        unsafe { self.carry(group, ptr, to, old, kept) };
        result
    }

    /// Collective: copies so many granules of each lane's block to another one that is the lane's, and frees the old one, of
    /// this layout. Whose block is the same has nothing to copy and helps.
    ///
    /// # Safety
    /// As [`free`](DeviceAlloc::free).
    #[inline(always)]
    pub(super) unsafe fn carry(
        self,
        group: Group,
        from: DevicePtr<u8>,
        to: DevicePtr<u8>,
        old: Layout,
        granules: u32,
    ) {
        let moves = to.granule() != from.granule();
        let block = Move {
            from: from.granule(),
            to: to.granule(),
            granules: select(moves, granules << self.words.granule_shift(), 0),
        };
        sync::copy(self.words, group, block);
        if moves {
            // SAFETY: the caller's promise; the block was copied and is used no more.
            unsafe { self.free(from, old) };
        }
    }

    /// Whether a block serves the new request where it is: both sizes are of one class, or take the same units.
    #[inline(always)]
    fn stays(self, old: Ask, new: Ask) -> bool {
        let ((old_slab, old_class), (new_slab, new_class)) =
            (self.class_of(old), self.class_of(new));
        let same_class = old_slab & new_slab & (old_class.index == new_class.index);
        let same_units = !old_slab & !new_slab & (self.units_of(old) == self.units_of(new));
        new.possible & (same_class | same_units)
    }
}
