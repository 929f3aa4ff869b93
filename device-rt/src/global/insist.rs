//! Requests of callers who are told of nothing but success.

use crate::Heap;
use crate::arch::{self, Words};
use core::ptr::null_mut;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr};

/// How often a request is made that other lanes were in the way of.
const TRIES: u32 = 16;
/// Between two tries, in nanoseconds.
const PAUSE: u32 = 200;

/// Asks until there is an answer that asking again does not change: the address of the block, or null.
#[inline(always)]
pub fn insist<A: DeviceAlloc<Memory = Words>>(
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
        Ok(ptr) => arch::pointer(heap.words(), ptr),
        Err(_) => null_mut(),
    }
}
