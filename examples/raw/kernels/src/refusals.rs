//! Requests that get null.

use core::alloc::Layout;
use warpheap_raw::{RawHeap, thread};

/// Requests that no heap serves: size and alignment.
const NEVER: [(usize, usize); 4] = [
    (1 << 40, 8),
    (usize::MAX >> 1, 1),
    (64, 1 << 20),
    (1 << 20, 1 << 30),
];

/// The first lane makes four requests that no heap serves, and leaves what it got.
///
/// # Safety
/// `got` has four elements.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn refusals(got: *mut *mut u8) {
    if thread::index() == 0 {
        for (i, (size, align)) in NEVER.into_iter().enumerate() {
            if let Ok(layout) = Layout::from_size_align(size, align) {
                // SAFETY: no size is zero; as the function asks. Compilers may leave out a request whose answer is looked at
                // and not kept.
                unsafe { *got.add(i) = alloc::alloc::alloc(layout) };
            }
        }
    }
}

/// Binds the global allocator from a kernel: one lane, and nothing else.
///
/// # Safety
/// No other kernel runs.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn bind(heap: RawHeap) {
    if thread::index() == 0 {
        // SAFETY: as the function asks.
        unsafe { crate::WARPHEAP.bind(heap) };
    }
}
