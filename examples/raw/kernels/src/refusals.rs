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

/// The first lane makes requests that no heap serves: leaves how many there were, and how many of them got null.
///
/// # Safety
/// `counts` are two words.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn refusals(counts: *mut u32) {
    if thread::index() == 0 {
        let (mut asked, mut null) = (0, 0);
        for (size, align) in NEVER {
            if let Ok(layout) = Layout::from_size_align(size, align) {
                asked += 1;
                // SAFETY: no size is zero.
                null += unsafe { alloc::alloc::alloc(layout) }.is_null() as u32;
            }
        }
        // SAFETY: as the function asks.
        unsafe { *counts = asked };
        // SAFETY: as the function asks.
        unsafe { *counts.add(1) = null };
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
