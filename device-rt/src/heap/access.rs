//! Reading and writing what is behind a handle.

use super::Heap;
use warpheap_api::{DeviceAlloc, DevicePtr, HeapData, HeapMemory};

impl<A: DeviceAlloc> Heap<A> {
    /// Reads the value behind a handle.
    ///
    /// # Safety
    /// `ptr` is a live block of this heap that holds at least `T::WORDS` words, and no other lane
    /// writes it at the same time.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<T: HeapData>(self, ptr: DevicePtr<T>) -> T {
        T::get(self.memory(), self.word_of(ptr))
    }

    /// Writes the value behind a handle.
    ///
    /// # Safety
    /// As [`load`](Self::load), and no other lane reads it at the same time.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<T: HeapData>(self, ptr: DevicePtr<T>, value: T) {
        value.put(self.memory(), self.word_of(ptr));
    }

    /// Reads element `index` of an array.
    ///
    /// # Safety
    /// As [`load`](Self::load), for a block that holds more than `index` elements.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_at<T: HeapData>(self, ptr: DevicePtr<T>, index: u32) -> T {
        T::get(
            self.memory(),
            self.word_of(ptr) + index as usize * T::WORDS as usize,
        )
    }

    /// Writes element `index` of an array.
    ///
    /// # Safety
    /// As [`store`](Self::store), for a block that holds more than `index` elements.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_at<T: HeapData>(self, ptr: DevicePtr<T>, index: u32, value: T) {
        value.put(
            self.memory(),
            self.word_of(ptr) + index as usize * T::WORDS as usize,
        );
    }

    /// Adds to the word behind a handle, atomically and relaxed; returns the old value.
    ///
    /// # Safety
    /// `ptr` is a live block of this heap, and lanes that access the word at the same time do so
    /// atomically.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn atomic_add(self, ptr: DevicePtr<u32>, value: u32) -> u32 {
        self.memory().fetch_add(self.word_of(ptr), value)
    }

    /// Compares and swaps the word behind a handle, atomically and relaxed; returns the old value,
    /// which is `current` on success.
    ///
    /// # Safety
    /// As [`atomic_add`](Self::atomic_add).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn atomic_compare_exchange(
        self,
        ptr: DevicePtr<u32>,
        current: u32,
        new: u32,
    ) -> u32 {
        self.memory()
            .compare_exchange(self.word_of(ptr), current, new)
    }
}
