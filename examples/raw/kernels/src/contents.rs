//! Whether blocks hold what was written to them: all lanes write, and in another kernel all look.

use warpheap_raw::{DevicePtr, Heap, Pointers, RawHeap, WarpHeap, thread};

/// Where the host finds how many lanes got no block.
const MISSING: usize = 0;
/// Where the host finds how many words are not what was written.
const WRONG: usize = 1;

/// The word `k` of the block of a lane.
#[inline(always)]
fn word(lane: u32, k: u32) -> u32 {
    (lane ^ k.rotate_left(16)).wrapping_mul(0x9e37_79b1) ^ k
}

/// Adds one to a count of the host's.
fn count(counts: *mut u32, which: usize) {
    // SAFETY: there are as many counts, which lanes change by such additions alone.
    let count = unsafe { core::sync::atomic::AtomicU32::from_ptr(counts.add(which)) };
    count.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
}

/// Writes the block of a lane, or looks whether it is as that left it.
///
/// # Safety
/// The block is null, or has `size` bytes and is the lane's.
#[inline(always)]
unsafe fn pass(lane: u32, block: *mut u32, size: u32, counts: *mut u32, look: u32) {
    if block.is_null() {
        return count(counts, MISSING);
    }
    for k in 0..size / 4 {
        // SAFETY: within the block.
        let place = unsafe { block.add(k as usize) };
        if look == 0 {
            // SAFETY: as above.
            unsafe { *place = word(lane, k) };
        // SAFETY: as above.
        } else if unsafe { *place } != word(lane, k) {
            count(counts, WRONG);
        }
    }
}

/// Lane `i` writes to the block whose handle is `blocks[i]`, or looks at it.
///
/// # Safety
/// The blocks are of this heap and size; `counts` are two words.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn pass_handles(
    heap: RawHeap,
    blocks: *const u32,
    lanes: u32,
    size: u32,
    counts: *mut u32,
    look: u32,
) {
    let lane = thread::index();
    // SAFETY: the host laid the heap out.
    let heap: Option<Heap<WarpHeap>> = unsafe { heap.attach() };
    if let (true, Some(heap)) = (lane < lanes, heap) {
        // SAFETY: `lane` is less than `lanes`.
        let block = heap.pointer(DevicePtr::from_granule(unsafe {
            *blocks.add(lane as usize)
        }));
        // SAFETY: as the function asks.
        unsafe { pass(lane, block.cast(), size, counts, look) }
    }
}

/// The same with addresses.
///
/// # Safety
/// As [`pass_handles`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn pass_pointers(
    blocks: *const *mut u32,
    lanes: u32,
    size: u32,
    counts: *mut u32,
    look: u32,
) {
    let lane = thread::index();
    if lane < lanes {
        // SAFETY: `lane` is less than `lanes`; as the function asks.
        unsafe { pass(lane, *blocks.add(lane as usize), size, counts, look) }
    }
}
