//! A growing vector: its words, and what is done to one element. The rest lies in the files beside this one:
//!
//! | file | what |
//! |---|---|
//! | `room` | blocks: growing, shrinking, giving back |
//! | `several` | what adds or removes several elements, or moves those behind one |
//! | `cursor` | going through the elements |
//! | `sort` | sorting by one lane |
//! | `together` | a vector that lanes of a group or a block have together |
//! | `network` | their sort |

mod cursor;
mod network;
mod room;
mod several;
mod sort;
mod together;

pub use cursor::VecCursor;

use super::block::hollow;
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, select};

/// A growing vector in a heap: three words (pointer, length, capacity) and a block that doubles.
///
/// It holds no heap, so it can lie in a buffer between launches, in heap memory, or in another
/// vector; zeroed memory is an empty vector. It owns its block, so it is moved and never copied:
/// one lane at a time has it. It does not free itself: call [`free`](Self::free).
///
/// Elements may own memory themselves, as those of a `HeapVec<HeapVec<u32>>` do. They are reached where they lie by
/// [`with_mut`](Self::with_mut) and moved by [`replace`](Self::replace) and [`pop_or`](Self::pop_or); what copies an
/// element is there for `Copy` ones alone. Elements that are dropped with the vector, overwritten by
/// [`set`](Self::set), cut off by [`truncate`](Self::truncate) or not kept by [`retain`](Self::retain) keep what they
/// own allocated; [`drain`](Self::drain) hands them out.
///
/// Methods are named as those of Rust's `Vec`. What `Vec` answers by a panic is an `Err`, a false or a value that the
/// caller chose. On Vulkan an `Option` of an element with more than one word does not compile; there use the forms
/// with `_or`, as [`get_or`](Self::get_or) and [`pop_or`](Self::pop_or).
///
/// A vector belongs to one lane. Lanes of a warp that come together help each other where each has its own: they
/// allocate together, and copy long vectors side by side when these grow. Lanes that build *one* vector together call
/// [`push_together`](Self::push_together).
#[derive(Debug)]
#[repr(C)]
pub struct HeapVec<T> {
    ptr: DevicePtr<T>,
    len: u32,
    capacity: u32,
    elements: PhantomData<fn() -> T>,
}

// SAFETY: three words, repr(C), no padding, every bit pattern allowed (methods promise nothing for
// vectors that were not made by this type).
unsafe impl<T: HeapData> HeapData for HeapVec<T> {
    const WORDS: u32 = 3;
    const OF_HEAP: bool = true;
    const HOLDS_SHARED: bool = T::HOLDS_SHARED;
    #[inline(always)]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        HeapVec {
            ptr: DevicePtr::from_granule(memory.read(word)),
            len: memory.read(word + 1),
            capacity: memory.read(word + 2),
            elements: PhantomData,
        }
    }
    #[inline(always)]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        memory.write(word, self.ptr.granule());
        memory.write(word + 1, self.len);
        memory.write(word + 2, self.capacity);
    }
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        HeapVec {
            ptr: DevicePtr::from_granule(args.words[at]),
            len: args.words[at + 1],
            capacity: args.words[at + 2],
            elements: PhantomData,
        }
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        HeapData::word_at(self.ptr, index)
            | select(index == 1, self.len, 0)
            | select(index == 2, self.capacity, 0)
    }
}

impl<T: HeapData> Default for HeapVec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: HeapData> HeapVec<T> {
    /// An empty vector, without memory.
    #[inline(always)]
    pub const fn new() -> Self {
        HeapVec {
            ptr: DevicePtr::NULL,
            len: 0,
            capacity: 0,
            elements: PhantomData,
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Elements that fit without growing.
    #[inline(always)]
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The block with the elements; null or meaningless if the capacity is 0.
    #[inline(always)]
    pub const fn as_ptr(&self) -> DevicePtr<T> {
        self.ptr
    }

    /// Takes the vector apart, for memory that can hold plain data alone: its block, length and capacity.
    /// Nobody frees the block until [`from_raw_parts`](Self::from_raw_parts) makes a vector of it again.
    #[inline(always)]
    pub fn into_raw_parts(self) -> (DevicePtr<T>, u32, u32) {
        (self.ptr, self.len, self.capacity)
    }

    /// A vector of what another one was taken apart into.
    ///
    /// # Safety
    /// They are what [`into_raw_parts`](Self::into_raw_parts) gave, and no other vector was made of them.
    #[inline(always)]
    pub const unsafe fn from_raw_parts(ptr: DevicePtr<T>, len: u32, capacity: u32) -> Self {
        HeapVec {
            ptr,
            len,
            capacity,
            elements: PhantomData,
        }
    }

    /// Appends an element, growing to twice the capacity if there is no room.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; then the vector is as it was.
    #[inline]
    pub fn push<A: DeviceAlloc>(&mut self, heap: Heap<A>, value: T) -> Result<(), AllocError> {
        if self.len == self.capacity {
            self.grow(heap, 1)?;
        }
        // SAFETY: the block holds `capacity` elements, more than `len`.
        unsafe { self.push_unchecked(heap, value) };
        Ok(())
    }

    /// Appends an element that there is room for.
    ///
    /// # Safety
    /// The capacity is greater than the length.
    #[inline(always)]
    pub(super) unsafe fn push_unchecked<A: DeviceAlloc>(&mut self, heap: Heap<A>, value: T) {
        // SAFETY: the vector owns the block, which holds more than `len` elements.
        unsafe { heap.store_at(self.ptr, self.len, value) };
        self.len += 1;
    }

    /// Says that there are `len` elements, which were written where they lie.
    ///
    /// # Safety
    /// The capacity is no less.
    #[inline(always)]
    pub(super) unsafe fn set_len(&mut self, len: u32) {
        self.len = len;
    }

    /// What a function says of the element at `index`; `otherwise`, and nothing called, beyond the end.
    #[inline(always)]
    pub fn with<A: DeviceAlloc, R>(
        &self,
        heap: Heap<A>,
        index: u32,
        otherwise: R,
        look: impl FnOnce(&T) -> R,
    ) -> R {
        if index < self.len {
            // SAFETY: the index was checked; the vector owns the block, and the copy is only looked at.
            let element: T = unsafe { heap.load_at(self.ptr, index) };
            look(&element)
        } else {
            otherwise
        }
    }

    /// Changes the element at `index` where it lies; `otherwise`, and nothing called, beyond the end.
    ///
    /// An element that owns memory is changed outside of the vector, and put back. Where a panic ends a lane alone, a
    /// function that panics leaves an empty one there, and what the element owned allocated.
    #[inline(always)]
    pub fn with_mut<A: DeviceAlloc, R>(
        &mut self,
        heap: Heap<A>,
        index: u32,
        otherwise: R,
        change: impl FnOnce(&mut T) -> R,
    ) -> R {
        if index < self.len {
            // SAFETY: the index was checked; the vector owns the block, and the element is put back where it was.
            let mut element: T = unsafe { heap.load_at(self.ptr, index) };
            hollow::<T, _>(heap.memory(), self.word_of(heap, index));
            let result = change(&mut element);
            // SAFETY: the same.
            unsafe { heap.store_at(self.ptr, index, element) };
            result
        } else {
            otherwise
        }
    }

    /// Puts an element in the place of that at `index`, which it gives back; `value` itself beyond the end.
    #[inline(always)]
    pub fn replace<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32, value: T) -> T {
        if index < self.len {
            // SAFETY: the index was checked; the vector owns the block, and the old element leaves it.
            let old = unsafe { heap.load_at(self.ptr, index) };
            // SAFETY: the same.
            unsafe { heap.store_at(self.ptr, index, value) };
            old
        } else {
            value
        }
    }

    /// The element at `index`, `None` beyond the end.
    #[inline(always)]
    pub fn get<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32) -> Option<T>
    where
        T: Copy,
    {
        if index < self.len {
            // SAFETY: the index was checked.
            Some(unsafe { self.get_unchecked(heap, index) })
        } else {
            None
        }
    }

    /// The element at `index`, `otherwise` beyond the end.
    #[inline(always)]
    pub fn get_or<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32, otherwise: T) -> T
    where
        T: Copy,
    {
        if index < self.len {
            // SAFETY: the index was checked.
            unsafe { self.get_unchecked(heap, index) }
        } else {
            otherwise
        }
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// `index` is less than [`len`](Self::len).
    #[inline(always)]
    pub unsafe fn get_unchecked<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32) -> T
    where
        T: Copy,
    {
        // SAFETY: the caller's promise; the vector owns the block.
        unsafe { heap.load_at(self.ptr, index) }
    }

    /// Overwrites the element at `index`; false, and nothing changed, beyond the end.
    #[inline(always)]
    pub fn set<A: DeviceAlloc>(&mut self, heap: Heap<A>, index: u32, value: T) -> bool {
        let inside = index < self.len;
        if inside {
            // SAFETY: the index was checked; the vector owns the block.
            unsafe { heap.store_at(self.ptr, index, value) };
        }
        inside
    }

    /// Removes the last element; `None` if there is none.
    #[inline(always)]
    pub fn pop<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        // SAFETY: there was an element at this index, which leaves the vector.
        Some(unsafe { heap.load_at(self.ptr, self.len) })
    }

    /// Removes the last element; `otherwise` if there is none.
    #[inline(always)]
    pub fn pop_or<A: DeviceAlloc>(&mut self, heap: Heap<A>, otherwise: T) -> T {
        if self.len == 0 {
            return otherwise;
        }
        self.len -= 1;
        // SAFETY: there was an element at this index, which leaves the vector.
        unsafe { heap.load_at(self.ptr, self.len) }
    }

    /// Keeps the first `len` elements; does nothing if there are no more. The memory stays.
    #[inline(always)]
    pub fn truncate(&mut self, len: u32) {
        if len < self.len {
            self.len = len;
        }
    }

    /// Removes all elements. The memory stays.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The word in which the element at `index` begins, which the block has room for.
    #[inline(always)]
    fn word_of<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32) -> usize {
        heap.memory().word_of(self.ptr) + index as usize * T::WORDS as usize
    }

    /// Gives the memory back; the vector is empty afterwards.
    #[inline]
    pub fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        self.release_block(heap);
        *self = Self::new();
    }
}
