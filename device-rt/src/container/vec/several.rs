//! What adds or removes several elements of a vector, or moves those behind one.

use super::HeapVec;
use super::room::{Share, copy_words};
use crate::Heap;
use crate::container::block::hollow;
use warpheap_api::{AllocError, DeviceAlloc, HeapData, HeapMemory, least, select};

impl<T: HeapData> HeapVec<T> {
    /// Puts an element in front of that at `index`; at the end if `index` is the length. All behind it move, which is
    /// a read and a write for each of their words.
    ///
    /// # Errors
    /// As [`push`](Self::push), and [`AllocError::Unsupported`] for an index beyond the end; then the vector is as it
    /// was.
    #[inline]
    pub fn insert<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        index: u32,
        value: T,
    ) -> Result<(), AllocError> {
        if index > self.len {
            return Err(AllocError::Unsupported);
        }
        self.reserve(heap, 1)?;
        let words = heap.memory();
        let first = self.word_of(heap, index);
        let mut i = self.word_of(heap, self.len);
        while i > first {
            i -= 1;
            words.write(i + T::WORDS as usize, words.read(i));
        }
        self.len += 1;
        // SAFETY: the vector owns the block, which holds more than `index` elements.
        unsafe { heap.store_at(self.ptr, index, value) };
        Ok(())
    }

    /// Takes the element at `index` out, `None` beyond the end. All behind it move, as for [`insert`](Self::insert).
    #[inline(always)]
    pub fn remove<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32) -> Option<T> {
        if index < self.len {
            Some(self.take_at(heap, index))
        } else {
            None
        }
    }

    /// Takes the element at `index` out, `otherwise` beyond the end. All behind it move, as for
    /// [`insert`](Self::insert).
    #[inline(always)]
    pub fn remove_or<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32, otherwise: T) -> T {
        if index < self.len {
            self.take_at(heap, index)
        } else {
            otherwise
        }
    }

    /// Takes the element at `index` out and puts the last one in its place; `None` beyond the end.
    #[inline(always)]
    pub fn swap_remove<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32) -> Option<T> {
        if index < self.len {
            Some(self.swap_out(heap, index))
        } else {
            None
        }
    }

    /// Takes the element at `index` out and puts the last one in its place; `otherwise` beyond the end.
    #[inline(always)]
    pub fn swap_remove_or<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32, otherwise: T) -> T {
        if index < self.len {
            self.swap_out(heap, index)
        } else {
            otherwise
        }
    }

    /// Exchanges two elements; false, and nothing changed, if one of them is beyond the end.
    #[inline(always)]
    pub fn swap<A: DeviceAlloc>(&mut self, heap: Heap<A>, one: u32, other: u32) -> bool {
        let inside = (one < self.len) & (other < self.len);
        if inside {
            // SAFETY: the indices were checked; the vector owns the block, and each element is there once again.
            unsafe {
                let first: T = heap.load_at(self.ptr, one);
                let second: T = heap.load_at(self.ptr, other);
                heap.store_at(self.ptr, one, second);
                heap.store_at(self.ptr, other, first);
            }
        }
        inside
    }

    /// Appends the elements of a slice. It grows once at most.
    ///
    /// # Errors
    /// As [`push`](Self::push); then the vector is as it was.
    #[inline(always)]
    pub fn extend_from_slice<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        elements: &[T],
    ) -> Result<(), AllocError>
    where
        T: Copy,
    {
        // No vector has room for as many as do not fit a word.
        if elements.len() as u32 as usize != elements.len() {
            return Err(AllocError::Unsupported);
        }
        self.extend_from_part(heap, elements, 0, elements.len() as u32)
    }

    /// Appends the elements of a slice from `begin` to that before `end`; what is beyond its end is not there. It grows
    /// once at most. (On Vulkan a slice has no parts that were slices, too.)
    ///
    /// # Errors
    /// As [`push`](Self::push); then the vector is as it was.
    #[inline]
    pub fn extend_from_part<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        elements: &[T],
        begin: u32,
        end: u32,
    ) -> Result<(), AllocError>
    where
        T: Copy,
    {
        let all = elements.len();
        let inside = end as usize <= all;
        let end = if inside { end } else { all as u32 };
        let number = select(begin < end, end.wrapping_sub(begin), 0);
        self.reserve(heap, number)?;
        let mut i = 0;
        while i < number {
            // SAFETY: the slice has so many elements.
            let element = unsafe { *elements.get_unchecked((begin + i) as usize) };
            // SAFETY: the vector owns the block, which has room for all of them.
            unsafe { heap.store_at(self.ptr, self.len + i, element) };
            i += 1;
        }
        self.len += number;
        Ok(())
    }

    /// Appends copies of the elements of another vector. It grows once at most.
    ///
    /// # Errors
    /// As [`push`](Self::push); then the vector is as it was.
    #[inline]
    pub fn extend_from_vec<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        other: &HeapVec<T>,
    ) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.extend_from(heap, other)
    }

    /// Moves all elements of another vector behind those of this one. The other one is empty afterwards, and keeps its
    /// memory.
    ///
    /// # Errors
    /// As [`push`](Self::push); then both are as they were.
    #[inline]
    pub fn append<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        other: &mut HeapVec<T>,
    ) -> Result<(), AllocError> {
        self.extend_from(heap, other)?;
        other.len = 0;
        Ok(())
    }

    /// Removes the elements from `begin` to that before `end`, and hands each to a function, in their order; how many
    /// they were. What is beyond the end of the vector is not there.
    ///
    /// Elements that own memory are handed out for good. A function that panics, where that ends a lane alone, leaves
    /// empty ones in the places of those that it got.
    #[inline(always)]
    pub fn drain<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        begin: u32,
        end: u32,
        mut each: impl FnMut(T),
    ) -> u32 {
        let end = least(end, self.len);
        let mut index = begin;
        while index < end {
            // SAFETY: the index was checked; the vector owns the block, and the element leaves it.
            let element: T = unsafe { heap.load_at(self.ptr, index) };
            hollow::<T, _>(heap.memory(), self.word_of(heap, index));
            each(element);
            index += 1;
        }
        let removed = index.wrapping_sub(begin);
        self.close(heap, begin, removed);
        removed
    }

    /// Keeps the elements of which `keep` is true, in their order. It is asked once for each, in their order.
    #[inline(always)]
    pub fn retain<A: DeviceAlloc>(&mut self, heap: Heap<A>, mut keep: impl FnMut(&T) -> bool) {
        let (mut index, mut kept) = (0, 0);
        while index < self.len {
            // SAFETY: the index was checked; the vector owns the block, and the copy is only looked at.
            let element: T = unsafe { heap.load_at(self.ptr, index) };
            if keep(&element) {
                if kept < index {
                    // Should `keep` panic later on, the element is there once.
                    hollow::<T, _>(heap.memory(), self.word_of(heap, index));
                    // SAFETY: the same; the element moves.
                    unsafe { heap.store_at(self.ptr, kept, element) };
                }
                kept += 1;
            }
            index += 1;
        }
        self.len = kept;
    }

    #[inline(always)]
    fn extend_from<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        other: &HeapVec<T>,
    ) -> Result<(), AllocError> {
        self.reserve(heap, other.len)?;
        let all = Share {
            rank: 0,
            step: 1,
            number: other.len * T::WORDS,
        };
        copy_words(
            heap,
            heap.memory().word_of(other.ptr),
            self.word_of(heap, self.len),
            all,
        );
        self.len += other.len;
        Ok(())
    }

    /// Takes an element out that is there.
    #[inline(always)]
    fn take_at<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32) -> T {
        // SAFETY: callers checked the index; the vector owns the block, and the element leaves it.
        let element = unsafe { heap.load_at(self.ptr, index) };
        self.close(heap, index, 1);
        element
    }

    /// Takes an element out that is there.
    #[inline(always)]
    fn swap_out<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32) -> T {
        self.len -= 1;
        // SAFETY: callers checked the index; the vector owns the block, and the element leaves it.
        let element = unsafe { heap.load_at(self.ptr, index) };
        // SAFETY: there was a last one, which moves.
        let last: T = unsafe { heap.load_at(self.ptr, self.len) };
        // SAFETY: the same.
        unsafe { heap.store_at(self.ptr, index, last) };
        element
    }

    /// Moves what is behind a gap of `number` elements at `begin` into it.
    #[inline(always)]
    fn close<A: DeviceAlloc>(&mut self, heap: Heap<A>, begin: u32, number: u32) {
        if number != 0 {
            let words = heap.memory();
            let width = number as usize * T::WORDS as usize;
            let end = self.word_of(heap, self.len);
            let mut i = self.word_of(heap, begin) + width;
            while i < end {
                words.write(i - width, words.read(i));
                i += 1;
            }
            self.len -= number;
        }
    }
}
