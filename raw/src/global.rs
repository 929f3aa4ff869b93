//! Rust's global allocator in kernels.

use crate::{Heap, HeapHandle, Layout, Pointers, RawHeap, Words};
use core::alloc::GlobalAlloc;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ptr::null_mut;

/// Rust's global allocator in kernels: allocates in the heap that it is bound to, with the allocator `A`.
///
/// ```text
/// #[global_allocator]
/// #[unsafe(no_mangle)]
/// static HEAP: GlobalHeap<WarpHeap> = GlobalHeap::unbound();
/// ```
///
/// It is bound either by the host, which copies a [`RawHeap`] to the module's global of that name (for that it is
/// `no_mangle`; it is as large, and laid out alike), or by a kernel, which calls [`bind`](GlobalHeap::bind).
///
/// A request gets null, and nothing else happens, when no heap is bound or one of another allocator or version; when the heap
/// is full; and when the allocator does not serve the size or the alignment (more than 64 KiB of alignment none does). Of null
/// Rust's collections make a call of `handle_alloc_error`, which panics; their `try_reserve` tells of it instead. Memory that
/// is given back and does not lie in the heap that is bound is left alone.
///
/// Lanes may call it in any branch, alone or with others. Lanes of a warp that call it together share the work.
#[repr(transparent)]
pub struct GlobalHeap<A> {
    heap: UnsafeCell<RawHeap>,
    allocator: PhantomData<fn() -> A>,
}

// SAFETY: it is written only by `bind`, whose caller promises that nobody else uses it then, and by the host between kernels.
unsafe impl<A> Sync for GlobalHeap<A> {}

impl<A> GlobalHeap<A> {
    /// Bound to no heap.
    pub const fn unbound() -> Self {
        GlobalHeap {
            heap: UnsafeCell::new(RawHeap::NONE),
            allocator: PhantomData,
        }
    }

    /// Binds it to a heap from the next kernel on; [`RawHeap::NONE`] for none. What was allocated before stays where it is, and
    /// can be given back only while its heap is bound. For host programs that cannot copy to a module's globals: one lane of a
    /// kernel that does nothing else calls it.
    ///
    /// # Safety
    /// No other lane calls this or allocates at the same time, and what [`RawHeap::attach`] asks of the heap holds for as long
    /// as it is bound.
    pub unsafe fn bind(&self, heap: RawHeap) {
        // SAFETY: the caller's promise: nobody else looks at it. Volatile, since nothing in this kernel reads it.
        unsafe { self.heap.get().write_volatile(heap) }
    }
}

impl<A: HeapHandle<Memory = Words>> GlobalHeap<A> {
    /// The heap that it is bound to, if that is one of `A`.
    #[inline(always)]
    pub fn heap(&self) -> Option<Heap<A>> {
        // SAFETY: nobody writes it while kernels allocate; whoever bound it made the promise of `attach`.
        unsafe { (*self.heap.get()).attach() }
    }
}

// SAFETY: blocks are those of a `DeviceAlloc`, which keeps size, alignment and disjointness; it neither unwinds nor allocates
// by itself.
unsafe impl<A: HeapHandle<Memory = Words>> GlobalAlloc for GlobalHeap<A> {
    // Not inlined: each collection has several such calls, and the body is an allocator.
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.heap() {
            Some(heap) => heap.malloc_ptr(layout),
            None => null_mut(),
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(heap) = self.heap() {
            // SAFETY: the caller's promise.
            unsafe { heap.free_ptr(block, layout) }
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        match self.heap() {
            // SAFETY: the caller's promise.
            Some(heap) => unsafe { heap.realloc_ptr(block, layout, new_size) },
            None => null_mut(),
        }
    }
}
