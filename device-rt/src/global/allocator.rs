//! A heap as the allocator of one collection.

use crate::Heap;
use crate::arch::{self, Words};
use allocator_api2::alloc::{AllocError, Allocator, Layout};
use core::ptr::{NonNull, null_mut, without_provenance_mut};
use warpheap_api::{DeviceAlloc, DevicePtr};

/// The allocators whose heaps lie in memory with addresses: on CUDA and on the host all of them. The bound of
/// a kernel that has collections in its heap.
///
/// ```text
/// #[kernel(allocators = all)]
/// pub fn squares<A: AddressedAlloc>(heap: Heap<A>, out: &mut [u32]) { let list = Vec::new_in(heap); … }
/// ```
pub trait AddressedAlloc: DeviceAlloc<Memory = Words> {}

impl<A: DeviceAlloc<Memory = Words>> AddressedAlloc for A {}

// Blocks of no bytes take nothing: collections that become empty by shrinking never give theirs back.
// Not inlined: each collection has several such calls, and their bodies are those of an allocator.
impl<A: AddressedAlloc> Heap<A> {
    #[inline(never)]
    fn block(self, layout: Layout) -> *mut u8 {
        if layout.size() == 0 {
            return without_provenance_mut(layout.align());
        }
        self.address(self.malloc(layout))
    }

    /// # Safety
    /// As [`Heap::free`], for the block at an address.
    #[inline(never)]
    unsafe fn give_back(self, block: *mut u8, layout: Layout) {
        if layout.size() != 0 {
            // SAFETY: the caller's promise.
            unsafe { self.free(arch::handle(self.memory(), block), layout) }
        }
    }

    /// Moves a block to another layout; null if there is no room, and then it stays.
    ///
    /// # Safety
    /// As `Allocator::grow` or `Allocator::shrink`.
    #[inline(never)]
    unsafe fn resize(self, block: *mut u8, old: Layout, new: Layout) -> *mut u8 {
        let empty = (old.size() == 0) | (new.size() == 0);
        if (old.align() == new.align()) & !empty {
            let ptr = arch::handle(self.memory(), block);
            // SAFETY: the caller's promise.
            return self.address(unsafe { self.realloc(ptr, old, new.size()) });
        }
        let moved = self.block(new);
        if !moved.is_null() {
            // SAFETY: both blocks hold so many bytes and are disjoint, since both are allocated.
            unsafe { block.copy_to_nonoverlapping(moved, old.size().min(new.size())) };
            // SAFETY: the caller's promise; the block was copied.
            unsafe { self.give_back(block, old) };
        }
        moved
    }

    /// Where the answer to a request lies; null for an error.
    #[inline(always)]
    fn address(self, answer: Result<DevicePtr<u8>, warpheap_api::AllocError>) -> *mut u8 {
        match answer {
            Ok(ptr) => arch::pointer(self.memory(), ptr),
            Err(_) => null_mut(),
        }
    }
}

/// A block of `size` bytes as the traits of collections want it.
#[inline(always)]
fn given(block: *mut u8, size: usize) -> Result<NonNull<[u8]>, AllocError> {
    match NonNull::new(block) {
        Some(block) => Ok(NonNull::slice_from_raw_parts(block, size)),
        None => Err(AllocError),
    }
}

// SAFETY: a block of a heap stays where it is until it is freed, whichever copy of the handle it was asked
// of; sizes and alignments are kept by the contract of `DeviceAlloc`.
unsafe impl<A: AddressedAlloc> Allocator for Heap<A> {
    #[inline(always)]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        given(self.block(layout), layout.size())
    }

    #[inline(always)]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.give_back(block.as_ptr(), layout) }
    }

    #[inline(always)]
    unsafe fn grow(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        given(unsafe { self.resize(block.as_ptr(), old, new) }, new.size())
    }

    #[inline(always)]
    unsafe fn shrink(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        given(unsafe { self.resize(block.as_ptr(), old, new) }, new.size())
    }
}
