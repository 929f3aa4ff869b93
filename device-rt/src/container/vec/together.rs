//! A vector that lanes have together: they push side by side, one of them allocates, all of them copy.

use super::HeapVec;
use super::room::{Share, copy_words};
use crate::Heap;
use crate::container::Together;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, layout, select};

/// What lanes do to *one* vector, which each of them has: a `HeapVec` of the same words, that all of these methods
/// change in the same way. One lane makes it theirs by [`into_raw_parts`](HeapVec::into_raw_parts) and
/// [`from_raw_parts`](HeapVec::from_raw_parts), or all begin with an empty one; at the end one lane keeps it.
///
/// The lanes are a [`Group`](crate::sync::Group), that is, those that a device brings together, or a
/// [`WholeBlock`](crate::container::WholeBlock). What one lane pushed others read behind a barrier.
impl<T: HeapData> HeapVec<T> {
    /// Collective: each lane appends an element, in the order of their ranks.
    ///
    /// # Errors
    /// As [`push`](Self::push), the same for all lanes; then the vector is as it was.
    ///
    /// # Safety
    /// All of the `lanes`, and no others, call this, with vectors of the same words and the same heap. No other lane
    /// uses the vector meanwhile.
    #[inline]
    pub unsafe fn push_together<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        lanes: impl Together,
        value: T,
    ) -> Result<(), AllocError> {
        let number = lanes.count();
        // SAFETY: the caller's promise.
        unsafe { self.reserve_together(heap, lanes, number)? };
        // SAFETY: the vector owns the block, which has room for an element of each lane.
        unsafe { heap.store_at(self.ptr, self.len + lanes.rank(), value) };
        self.len += number;
        Ok(())
    }

    /// Collective: makes room for `additional` elements more, the same number in each lane. One lane allocates, and all
    /// of them copy.
    ///
    /// # Errors
    /// As [`push_together`](Self::push_together).
    ///
    /// # Safety
    /// As [`push_together`](Self::push_together).
    #[inline]
    pub unsafe fn reserve_together<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        lanes: impl Together,
        additional: u32,
    ) -> Result<(), AllocError> {
        if self.capacity - self.len >= additional {
            return Ok(());
        }
        let capacity = self.grown(additional);
        // Behind this all lanes know what each of them pushed before.
        // SAFETY: the caller's promise.
        let ptr = unsafe { lanes.malloc(heap, layout::array::<T>(capacity))? };
        let ptr = ptr.cast::<T>();
        let share = Share {
            rank: lanes.rank(),
            step: lanes.count(),
            number: self.len * T::WORDS,
        };
        copy_words(
            heap,
            heap.memory().word_of(self.ptr),
            heap.memory().word_of(ptr),
            share,
        );
        // SAFETY: the caller's promise.
        unsafe { self.release_together(heap, lanes) };
        self.ptr = ptr;
        self.capacity = capacity;
        Ok(())
    }

    /// Collective: gives the memory back; the vector is empty afterwards.
    ///
    /// # Safety
    /// As [`push_together`](Self::push_together).
    #[inline]
    pub unsafe fn free_together<A: DeviceAlloc>(&mut self, heap: Heap<A>, lanes: impl Together) {
        // SAFETY: the caller's promise.
        unsafe { self.release_together(heap, lanes) };
        *self = Self::new();
    }

    /// Collective, and orders memory accesses as a barrier: gives the block back.
    ///
    /// # Safety
    /// As [`push_together`](Self::push_together); the block is used no more.
    #[inline(always)]
    unsafe fn release_together<A: DeviceAlloc>(&self, heap: Heap<A>, lanes: impl Together) {
        // A vector without room may have a handle that means nothing.
        let none = self.capacity == 0;
        let granule = select(none, DevicePtr::<u8>::NULL_GRANULE, self.ptr.granule());
        let block = DevicePtr::from_granule(granule);
        // SAFETY: the caller's promise; the vector owns the block and got it with this layout.
        unsafe { lanes.free(heap, block, layout::array::<T>(self.capacity)) };
    }
}
