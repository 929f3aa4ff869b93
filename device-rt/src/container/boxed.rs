//! A block with one value.

use super::block::{hollow, word_of};
use super::handle::word_handle;
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{
    AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout, layout, select,
};

/// A value in a block of its own in a heap: one word.
///
/// It owns the block, so it is moved and never copied, and lies in buffers, blocks and containers as others do; a zeroed
/// word has no block. It does not free itself: call [`free`](Self::free) or [`into_inner_or`](Self::into_inner_or). What the
/// value owns is not freed with it.
#[derive(Debug)]
#[repr(transparent)]
pub struct HeapBox<T> {
    /// The block: its granule and one, 0 for none.
    block: u32,
    value: PhantomData<fn() -> T>,
}

word_handle!(HeapBox<T>: HeapData, block, from_word, T::HOLDS_SHARED);

impl<T: HeapData> Default for HeapBox<T> {
    fn default() -> Self {
        Self::none()
    }
}

impl<T> HeapBox<T> {
    #[inline(always)]
    const fn from_word(block: u32) -> Self {
        HeapBox {
            block,
            value: PhantomData,
        }
    }

    /// No block.
    #[inline(always)]
    pub const fn none() -> Self {
        Self::from_word(0)
    }

    /// Whether there is no block.
    #[inline(always)]
    pub const fn is_none(&self) -> bool {
        self.block == 0
    }
}

impl<T: HeapData> HeapBox<T> {
    /// A block with this value.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; then a value that owns memory is lost, so rather make an empty one and fill it by
    /// [`with_mut`](Self::with_mut).
    #[inline]
    pub fn new<A: DeviceAlloc>(heap: Heap<A>, value: T) -> Result<HeapBox<T>, AllocError> {
        let block = heap.malloc(Self::layout())?;
        let words = heap.memory();
        value.put(words, words.word_of(block));
        Ok(Self::from_word(block.granule() + 1))
    }

    /// The value; `otherwise` if there is none.
    #[inline(always)]
    pub fn get_or<A: DeviceAlloc>(&self, heap: Heap<A>, otherwise: T) -> T
    where
        T: Copy,
    {
        if self.is_none() {
            otherwise
        } else {
            T::get(heap.memory(), word_of(heap.memory(), self.block))
        }
    }

    /// Changes the value where it lies; `otherwise`, and nothing called, if there is none. A function that panics may
    /// leave an empty value, as [`HeapVec::with_mut`](super::HeapVec::with_mut) says.
    #[inline(always)]
    pub fn with_mut<A: DeviceAlloc, R>(
        &mut self,
        heap: Heap<A>,
        otherwise: R,
        change: impl FnOnce(&mut T) -> R,
    ) -> R {
        if self.is_none() {
            return otherwise;
        }
        let mut value = T::get(heap.memory(), word_of(heap.memory(), self.block));
        hollow::<T, _>(heap.memory(), word_of(heap.memory(), self.block));
        let result = change(&mut value);
        value.put(heap.memory(), word_of(heap.memory(), self.block));
        result
    }

    /// Puts a value in the place of the one that is there, which it gives back; `value` itself if there is none.
    #[inline(always)]
    pub fn replace<A: DeviceAlloc>(&mut self, heap: Heap<A>, value: T) -> T {
        if self.is_none() {
            return value;
        }
        let old = T::get(heap.memory(), word_of(heap.memory(), self.block));
        value.put(heap.memory(), word_of(heap.memory(), self.block));
        old
    }

    /// Gives the block back and the value to the caller; `otherwise` if there is none.
    #[inline]
    pub fn into_inner_or<A: DeviceAlloc>(self, heap: Heap<A>, otherwise: T) -> T {
        let mut this = self;
        if this.is_none() {
            return otherwise;
        }
        let value = T::get(heap.memory(), word_of(heap.memory(), this.block));
        this.free(heap);
        value
    }

    /// Moves the block where a [compaction](DeviceAlloc::begin_compaction) wants it, if it does: the value stays the same.
    #[inline]
    pub fn relocate<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if !self.is_none() {
            let block = DevicePtr::from_granule(self.block - 1);
            // SAFETY: the box owns the block and got it with this layout.
            let moved = unsafe { heap.relocate(block, Self::layout()) };
            self.block = moved.granule() + 1;
        }
    }

    /// Gives the block back; there is none afterwards.
    #[inline]
    pub fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if !self.is_none() {
            let block = DevicePtr::from_granule(self.block - 1);
            // SAFETY: the box owns the block and got it with this layout.
            unsafe { heap.free(block, Self::layout()) };
        }
        *self = Self::none();
    }

    #[inline(always)]
    const fn layout() -> Layout {
        layout::array::<T>(1)
    }
}
