//! Going through the elements of a vector.

use super::HeapVec;
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::{DeviceAlloc, DevicePtr, HeapData};

/// A place in a [`HeapVec`], which it borrows: three words, changed by reading.
///
/// It is no `Iterator`: that would hold the heap and change in a loop, a shape that compilers for Vulkan do not take.
#[derive(Debug)]
#[repr(C)]
pub struct VecCursor<'a, T> {
    ptr: DevicePtr<T>,
    /// The next element.
    index: u32,
    /// Behind the last one.
    end: u32,
    vector: PhantomData<&'a T>,
}

impl<T: HeapData + Copy> HeapVec<T> {
    /// Where reading begins: the elements come in their order.
    #[inline(always)]
    pub fn iter(&self) -> VecCursor<'_, T> {
        VecCursor {
            ptr: self.ptr,
            index: 0,
            end: self.len,
            vector: PhantomData,
        }
    }
}

impl<T: HeapData + Copy> VecCursor<'_, T> {
    /// Whether no element is left.
    #[inline(always)]
    pub const fn is_done(&self) -> bool {
        self.index >= self.end
    }

    /// Number of elements that are left.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.end - self.index
    }

    /// Whether no element is left: [`is_done`](Self::is_done).
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.is_done()
    }

    /// The next element; `None` at the end. On Vulkan for elements of one word only.
    #[inline(always)]
    pub fn next<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> Option<T> {
        if self.is_done() {
            return None;
        }
        Some(self.step(heap))
    }

    /// The next element; `otherwise` at the end, which [`is_done`](Self::is_done) tells beforehand.
    #[inline(always)]
    pub fn next_or<A: DeviceAlloc>(&mut self, heap: Heap<A>, otherwise: T) -> T {
        if self.is_done() {
            return otherwise;
        }
        self.step(heap)
    }

    #[inline(always)]
    fn step<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> T {
        self.index += 1;
        // SAFETY: the index is one of the vector, which is borrowed and owns the block.
        unsafe { heap.load_at(self.ptr, self.index - 1) }
    }
}
