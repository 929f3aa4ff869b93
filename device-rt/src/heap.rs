//! The heap as a kernel sees it.

mod access;

use crate::arch::Words;
use warpheap_api::{
    AllocError, BlockAlloc, DeviceAlloc, DevicePtr, HeapData, HeapHandle, HeapMemory, HeapStats,
    HeapUsage, Layout, Reset,
};

/// A heap, passed by value: allocates through `A`, and resolves handles to the memory behind them.
///
/// A heap is a handle: copies name the same heap. It is an argument of a kernel and goes to every
/// call that allocates, frees or touches heap memory.
#[derive(Clone, Copy)]
pub struct Heap<A> {
    alloc: A,
}

impl<A: HeapHandle<Memory = Words>> Heap<A> {
    /// The heap in `words`; see [`HeapHandle::attach`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn attach(words: Words, params: warpheap_api::HeapParams) -> Self {
        Heap {
            // SAFETY: the caller's promise.
            alloc: unsafe { A::attach(words, params) },
        }
    }
}

impl<A: DeviceAlloc> Heap<A> {
    /// The allocator behind the heap.
    ///
    /// # Safety
    /// As [`words`](Self::words), which an allocator gives.
    #[inline(always)]
    pub unsafe fn allocator(self) -> A {
        self.alloc
    }

    /// The words of the heap.
    ///
    /// # Safety
    /// Words are read and written inside live blocks alone, by whoever owns them, and each by one lane at a time unless all
    /// accesses are atomic. Others are metadata of the allocator, or somebody else's.
    #[inline(always)]
    pub unsafe fn words(self) -> A::Memory {
        self.memory()
    }

    /// Index of the first word behind a handle, for [`words`](Self::words).
    #[inline(always)]
    pub fn word_of<T>(self, ptr: DevicePtr<T>) -> usize {
        self.memory().word_of(ptr)
    }

    /// The words of the heap, for the library, which keeps to what [`words`](Self::words) asks for.
    #[inline(always)]
    pub(crate) fn memory(self) -> A::Memory {
        self.alloc.memory()
    }

    /// Release fence at device scope: what this lane wrote before is visible to whoever reads an atomic that this lane
    /// writes afterwards, and then calls [`acquire`](Self::acquire).
    #[inline(always)]
    pub fn release(self) {
        self.memory().release();
    }

    /// Acquire fence at device scope, the other half of [`release`](Self::release).
    #[inline(always)]
    pub fn acquire(self) {
        self.memory().acquire();
    }

    /// Allocates a block; see [`DeviceAlloc::malloc`].
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let result = self.alloc.malloc(layout);
        self.note(result, layout)
    }

    /// [`malloc`](Self::malloc) where it is seldom needed: apart from the code around it, so that this keeps its registers.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn malloc_rarely(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let result = crate::arch::malloc_rarely(self.alloc, layout);
        self.note(result, layout)
    }

    /// [`free`](Self::free) where it is seldom needed, as [`malloc_rarely`](Self::malloc_rarely).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn free_rarely(self, ptr: DevicePtr<u8>, layout: Layout) {
        if !ptr.is_null() {
            self.memory().note_free(ptr, layout);
        }
        // SAFETY: the caller's promise.
        unsafe { crate::arch::free_rarely(self.alloc, ptr, layout) }
    }

    /// Takes a block back; see [`DeviceAlloc::free`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        if !ptr.is_null() {
            self.memory().note_free(ptr, layout);
        }
        // SAFETY: the caller's promise.
        unsafe { self.alloc.free(ptr, layout) }
    }

    /// Allocates a block for each active lane; see [`DeviceAlloc::malloc_warp`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn malloc_warp(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        let result = unsafe { self.alloc.malloc_warp(layout) };
        self.note(result, layout)
    }

    /// Takes a block back from each active lane; see [`DeviceAlloc::free_warp`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn free_warp(self, ptr: DevicePtr<u8>, layout: Layout) {
        if !ptr.is_null() {
            self.memory().note_free(ptr, layout);
        }
        // SAFETY: the caller's promise.
        unsafe { self.alloc.free_warp(ptr, layout) }
    }

    /// Allocates a block of zero words; see [`DeviceAlloc::calloc`].
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub fn calloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let result = self.alloc.calloc(layout);
        if let Ok(ptr) = result {
            self.memory().note_calloc(ptr, layout);
        }
        result
    }

    /// Resizes a block; see [`DeviceAlloc::realloc`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        // An emulator hears that the old block is gone before it can be another lane's, and that it
        // is back if nothing happened.
        self.memory().note_moving(ptr, layout);
        // SAFETY: the caller's promise.
        match unsafe { self.alloc.realloc(ptr, layout, new_size) } {
            Ok(moved) => {
                let layout = warpheap_api::layout::aligned(new_size, layout.align());
                self.memory().note_moved(moved, layout);
                Ok(moved)
            }
            Err(error) => {
                self.memory().note_moved(ptr, layout);
                Err(error)
            }
        }
    }

    /// Begins a compaction; see [`DeviceAlloc::begin_compaction`].
    #[inline(always)]
    pub fn begin_compaction(self, percent: u32, index: u32, count: u32) -> u32 {
        self.alloc.begin_compaction(percent, index, count)
    }

    /// Moves a block that a compaction wants elsewhere; see [`DeviceAlloc::relocate`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn relocate(self, ptr: DevicePtr<u8>, layout: Layout) -> DevicePtr<u8> {
        // As in `realloc`.
        if !ptr.is_null() {
            self.memory().note_moving(ptr, layout);
        }
        // SAFETY: the caller's promise.
        let moved = unsafe { self.alloc.relocate(ptr, layout) };
        if !ptr.is_null() {
            self.memory().note_moved(moved, layout);
        }
        moved
    }

    /// Ends a compaction; see [`DeviceAlloc::end_compaction`].
    #[inline(always)]
    pub fn end_compaction(self, index: u32, count: u32) {
        self.alloc.end_compaction(index, count);
    }

    /// Allocates an array; see [`DeviceAlloc::malloc_array`].
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub fn malloc_array<T: HeapData>(self, len: u32) -> Result<DevicePtr<T>, AllocError> {
        match self.malloc(warpheap_api::layout::array::<T>(len)) {
            Ok(ptr) => Ok(ptr.cast()),
            Err(error) => Err(error),
        }
    }

    /// Allocates one block for all active lanes; see [`DeviceAlloc::malloc_shared`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn malloc_shared(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.alloc.malloc_shared(layout) }
    }

    /// Allocates one block for all lanes of the workgroup; see [`BlockAlloc::malloc_block`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn malloc_block(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.alloc.malloc_block(layout) }
    }

    /// Takes a block back from all lanes of the workgroup; see [`BlockAlloc::free_block`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn free_block(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.alloc.free_block(ptr, layout) }
    }

    /// Frees every block, each lane of the launch its share; see [`Reset::reset`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn reset(self, index: u32, count: u32)
    where
        A: Reset,
    {
        self.memory().note_reset();
        // SAFETY: the caller's promise.
        unsafe { self.alloc.reset(index, count) }
    }

    /// What a share of the heap holds; see [`HeapStats::usage`].
    #[inline(always)]
    #[track_caller]
    pub fn usage(self, index: u32, count: u32) -> HeapUsage
    where
        A: HeapStats,
    {
        self.alloc.usage(index, count)
    }

    #[inline(always)]
    #[track_caller]
    fn note(
        self,
        result: Result<DevicePtr<u8>, AllocError>,
        layout: Layout,
    ) -> Result<DevicePtr<u8>, AllocError> {
        match result {
            Ok(ptr) => {
                self.memory().note_malloc(ptr, layout);
                Ok(ptr)
            }
            Err(error) => Err(error),
        }
    }

    /// The layout of the whole block that a malloc takes for `layout`; see [`DeviceAlloc::rounded`].
    #[inline(always)]
    pub fn rounded(self, layout: Layout) -> Layout {
        self.alloc.rounded(layout)
    }
}
