//! The stack of a warp: one vector in the heap, which each of the lanes knows.

use super::Family;
use core::mem::take;
use warpheap::device::*;
use warpheap::rt::sync::{Group, Team};

/// A vector that the lanes of a group have together. All of them call its methods, all at the same place.
pub struct Stack {
    /// The lanes.
    pub group: Group,
    /// The same words in each lane.
    families: HeapVec<Family>,
}

impl Stack {
    /// Takes the vector of the lane that leads the group, which has an empty one then.
    #[inline(always)]
    pub fn of_leader(group: Group, own: &mut HeapVec<Family>) -> Self {
        let mut words = (DevicePtr::NULL_GRANULE, 0, 0);
        if group.leads() {
            let (ptr, len, capacity) = take(own).into_raw_parts();
            words = (ptr.granule(), len, capacity);
        }
        let ptr = DevicePtr::from_granule(group.broadcast(words.0));
        let (len, capacity) = (group.broadcast(words.1), group.broadcast(words.2));
        // SAFETY: the leader's vector, which is its own no more.
        let families = unsafe { HeapVec::from_raw_parts(ptr, len, capacity) };
        Stack { group, families }
    }

    /// Makes it the leader's again. An empty one is freed.
    #[inline(always)]
    pub fn keep(self, heap: Heap<WarpHeap>, own: &mut HeapVec<Family>) {
        if self.group.leads() {
            *own = self.families;
            if own.is_empty() {
                own.free(heap);
            }
        }
    }

    /// Number of families.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.families.len()
    }

    /// Makes room for a family of each lane.
    ///
    /// # Errors
    /// As `HeapVec::reserve_together`, for all lanes alike.
    #[inline(always)]
    pub fn reserve(&mut self, heap: Heap<WarpHeap>) -> Result<(), AllocError> {
        // SAFETY: all lanes of the group come here with the same vector, which is theirs alone.
        unsafe {
            self.families
                .reserve_together(heap, self.group, self.group.count())
        }
    }

    /// Gives each lane whose family is done another one, as long as there are some.
    #[inline(always)]
    pub fn pop(&mut self, heap: Heap<WarpHeap>, family: &mut Family) {
        let done = Team::new(self.group, self.group.ballot(family.is_done()));
        let len = self.len();
        if family.is_done() & (done.rank() < len) {
            *family = self
                .families
                .get_or(heap, len - 1 - done.rank(), Family::DONE);
        }
        // Their places are written anew only when all have read them.
        self.group.barrier();
        let taken = if done.count() < len {
            done.count()
        } else {
            len
        };
        self.families.truncate(len - taken);
    }

    /// Appends the families of the lanes that `push`. There is [room](Self::reserve) for them.
    #[inline(always)]
    pub fn push(&mut self, heap: Heap<WarpHeap>, family: Family, push: bool) {
        let pushing = Team::new(self.group, self.group.ballot(push));
        let (ptr, len, capacity) = take(&mut self.families).into_raw_parts();
        if push {
            // SAFETY: the block is the vector's, and has room for a family of each lane behind the last one.
            unsafe { heap.store_at(ptr, len + pushing.rank(), family) };
        }
        // What one lane pushes another one takes.
        self.group.barrier();
        // SAFETY: the vector's parts; as many elements more were written.
        self.families = unsafe { HeapVec::from_raw_parts(ptr, len + pushing.count(), capacity) };
    }
}
