//! A heap that refuses the n-th request, for tests of what happens when memory runs out.

use super::within::{handle_within, moved_as_within, named_as_within};
use crate::alloc::fail;
use crate::arch::Words;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout, header,
};

/// Refuses one request, the n-th from when the host says so, as if the heap were exhausted; passes all
/// others on to the allocator within.
///
/// The host says so with `Failing::refuse`; until then nothing is refused. Requests of all lanes count, in
/// the order in which they come; resizing a block counts where it takes a new one.
#[derive(Clone, Copy)]
pub struct Failing<A> {
    inner: A,
}

handle_within!(Failing);

// SAFETY: what is handed out is the inner allocator's, and goes back to it.
unsafe impl<A: DeviceAlloc<Memory = Words>> DeviceAlloc for Failing<A> {
    named_as_within!();
    moved_as_within!();
    const CAPS: Caps = A::CAPS;

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let words = self.inner.header();
        // From zero it takes four thousand million requests to come to one.
        let left = words.fetch_sub(header::WORD_REFUSE, 1);
        if left == 1 {
            return fail(words, layout, AllocError::Exhausted);
        }
        self.inner.malloc(layout)
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.inner.free(ptr, layout) }
    }

    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        self.inner.rounded(layout)
    }
}
