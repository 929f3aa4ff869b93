//! The heap of Rust's own collections on CUDA.

use core::marker::PhantomData;

/// Rust's global allocator in the kernels of a crate: takes from the heap that the host bound to the
/// crate's module, with the allocator `A`. [`global_heap!`](crate::global_heap) declares it.
///
/// It is a [`GlobalAlloc`](core::alloc::GlobalAlloc) in CUDA images of crates that say `alloc = true`, and
/// nothing else anywhere else. Sizes and alignments are those of the allocator, up to 64 KiB of alignment;
/// a request that it does not serve gives a null pointer, of which collections make a panic. One that other
/// lanes were in the way of is repeated a few times before.
pub struct CudaHeap<A> {
    allocator: PhantomData<fn() -> A>,
}

impl<A> CudaHeap<A> {
    /// The heap that the host binds.
    pub const fn new() -> Self {
        CudaHeap {
            allocator: PhantomData,
        }
    }
}

impl<A> Default for CudaHeap<A> {
    fn default() -> Self {
        Self::new()
    }
}

/// The global allocator of kernels that are no allocator's, in a crate with an image for each: there is none.
#[doc(hidden)]
pub struct NoHeap;

#[cfg(warpheap_alloc)]
mod device {
    use super::{CudaHeap, NoHeap};
    use crate::arch::{self, Words};
    use crate::global::panic::stop;
    use crate::{Heap, entry};
    use core::alloc::{GlobalAlloc, Layout};
    use core::ptr::null_mut;
    use warpheap_api::{AllocError, DevicePtr, HeapHandle};

    /// How often a request is made that other lanes were in the way of.
    const TRIES: u32 = 16;
    /// Between two tries, in nanoseconds.
    const PAUSE: u32 = 200;

    /// The heap that the host bound. Without one the lane ends.
    #[inline(always)]
    fn bound<A: HeapHandle<Memory = Words>>() -> Heap<A> {
        let args = arch::global_heap();
        if args.words[0] | args.words[1] == 0 {
            stop(
                "no heap is bound for Rust's collections: call `bind_heap(&pool)` of the crate's `Kernels` \
                 before the launch",
            );
        }
        // SAFETY: the host wrote the arguments of a heap of this kind, and unbinds it before its memory goes.
        unsafe { entry::heap(arch::heap_words(&args, 0), &args, 0) }
    }

    /// Asks until there is an answer that asking again does not change.
    #[inline(always)]
    fn insist<A: HeapHandle<Memory = Words>>(
        heap: Heap<A>,
        mut ask: impl FnMut() -> Result<DevicePtr<u8>, AllocError>,
    ) -> *mut u8 {
        let mut answer = ask();
        let mut tries = 1;
        while (answer == Err(AllocError::Contended)) & (tries < TRIES) {
            arch::pause(PAUSE);
            answer = ask();
            tries += 1;
        }
        match answer {
            Ok(ptr) => arch::pointer(heap.memory(), ptr),
            Err(_) => null_mut(),
        }
    }

    /// The handle of a block of the heap. Of another's the lane ends.
    #[inline(always)]
    fn handle<A: HeapHandle<Memory = Words>>(heap: Heap<A>, block: *mut u8) -> DevicePtr<u8> {
        let ptr = arch::handle(heap.memory(), block);
        if ptr.is_null() {
            stop(
                "memory that is not of the bound heap was given back: it was bound after the memory was taken",
            );
        }
        ptr
    }

    // SAFETY: blocks are those of a `DeviceAlloc`, which keeps size, alignment and disjointness; it neither
    // unwinds nor allocates by itself.
    unsafe impl<A: HeapHandle<Memory = Words>> GlobalAlloc for CudaHeap<A> {
        // Not inlined: each collection has several such calls, and the body is an allocator.
        #[inline(never)]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let heap = bound::<A>();
            insist(heap, || heap.malloc(layout))
        }

        #[inline(never)]
        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            let heap = bound::<A>();
            // SAFETY: the caller's promise.
            unsafe { heap.free(handle(heap, block), layout) }
        }

        #[inline(never)]
        unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
            let heap = bound::<A>();
            let ptr = handle(heap, block);
            // SAFETY: the caller's promise; a try that failed left the block as it was.
            insist(heap, || unsafe { heap.realloc(ptr, layout, new_size) })
        }
    }

    // SAFETY: it gives no memory.
    unsafe impl GlobalAlloc for NoHeap {
        unsafe fn alloc(&self, _layout: Layout) -> *mut u8 {
            stop(
                "kernels of a crate with `images = \"by-allocator\"` have a heap for collections only if they are \
                 generic over the allocator, `#[kernel(allocators = all)]`",
            );
        }

        unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
    }
}
