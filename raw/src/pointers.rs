//! Blocks as pointers.

use crate::{AllocError, DeviceAlloc, DevicePtr, Heap, Layout, Words};
use core::ptr::null_mut;
use warpheap_rt::arch;

/// How often a request is made that other lanes were in the way of.
const TRIES: u32 = 16;
/// Between two tries, in nanoseconds.
const PAUSE: u32 = 200;

/// Blocks of a [`Heap`] as pointers: for kernels that give memory to code which knows nothing of handles. Both name the same
/// blocks, and one that was got as a handle can be freed by its pointer.
///
/// A request that other lanes were in the way of is made again a few times; what a handle's caller would be told as
/// [`AllocError::Contended`](crate::AllocError::Contended) is null only then.
pub trait Pointers: Copy {
    /// The address of a block; null of the null handle.
    fn pointer(self, ptr: DevicePtr<u8>) -> *mut u8;

    /// The handle of the block at an address; null if it is not one in this heap.
    fn handle(self, block: *mut u8) -> DevicePtr<u8>;

    /// Allocates a block; null if the heap does not give one. Its contents are unspecified. A layout of no bytes takes a block,
    /// too.
    fn malloc_ptr(self, layout: Layout) -> *mut u8;

    /// Takes a block back. Null is ignored, and so is an address outside the heap.
    ///
    /// # Safety
    /// As [`DeviceAlloc::free`] for the block at the address.
    unsafe fn free_ptr(self, block: *mut u8, layout: Layout);

    /// Moves a block to a layout of `new_size` bytes and the old alignment. Null if there is no room, or the address is not one
    /// in this heap; then nothing has happened.
    ///
    /// # Safety
    /// As [`DeviceAlloc::realloc`] for the block at the address.
    unsafe fn realloc_ptr(self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8;
}

impl<A: DeviceAlloc<Memory = Words>> Pointers for Heap<A> {
    #[inline(always)]
    fn pointer(self, ptr: DevicePtr<u8>) -> *mut u8 {
        if ptr.is_null() {
            return null_mut();
        }
        arch::pointer(words(self), ptr)
    }

    #[inline(always)]
    fn handle(self, block: *mut u8) -> DevicePtr<u8> {
        arch::handle(words(self), block)
    }

    #[inline(always)]
    fn malloc_ptr(self, layout: Layout) -> *mut u8 {
        match self.malloc(layout) {
            Ok(ptr) => arch::pointer(words(self), ptr),
            Err(AllocError::Contended) => malloc_again(self, layout),
            Err(_) => null_mut(),
        }
    }

    #[inline(always)]
    unsafe fn free_ptr(self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; the null handle, which an address outside the heap has, is ignored.
        unsafe { self.free(self.handle(block), layout) }
    }

    #[inline(always)]
    unsafe fn realloc_ptr(self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let ptr = self.handle(block);
        if ptr.is_null() {
            return null_mut();
        }
        // SAFETY: the caller's promise; a try that failed left the block as it was.
        insist(self, || unsafe { self.realloc(ptr, layout, new_size) })
    }
}

/// Where the words of a heap lie.
#[inline(always)]
fn words<A: DeviceAlloc<Memory = Words>>(heap: Heap<A>) -> Words {
    // SAFETY: none is read or written: this file only computes addresses.
    unsafe { heap.words() }
}

/// The tries after the first. Apart from it: what they need would take registers from kernels whose first try succeeds.
#[cold]
#[inline(never)]
fn malloc_again<A: DeviceAlloc<Memory = Words>>(heap: Heap<A>, layout: Layout) -> *mut u8 {
    arch::pause(PAUSE);
    insist(heap, || heap.malloc(layout))
}

/// Asks until there is an answer that asking again does not change. The request stands here once: its code is an allocator's.
#[inline(always)]
fn insist<A: DeviceAlloc<Memory = Words>>(
    heap: Heap<A>,
    mut ask: impl FnMut() -> Result<DevicePtr<u8>, AllocError>,
) -> *mut u8 {
    let mut tries = 1;
    loop {
        match ask() {
            Ok(ptr) => return arch::pointer(words(heap), ptr),
            Err(AllocError::Contended) if tries < TRIES => {
                arch::pause(PAUSE);
                tries += 1;
            }
            Err(_) => return null_mut(),
        }
    }
}
