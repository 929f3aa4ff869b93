//! Kernels for `Limited` and `Traced`: what a lane asks for, and how much all lanes have at the same time.

use crate::{NONE, Step, handle, mine};
use warpheap_rt::device::*;

/// The `other` of a step that frees.
pub const FREES: u32 = u32::MAX;

/// Lanes ask: for a block where `other` is 0, for its free where it is [`FREES`], otherwise for another size, `other`.
///
/// # Safety
/// The slots hold blocks of these sizes.
///
/// # Errors
/// As `malloc` and `realloc`.
#[kernel(allocators = [Limited<WarpHeap>, Limited<Counted<ScatterAlloc>>, Traced<WarpHeap>, Traced<Limited<ScatterAlloc>>])]
pub unsafe fn asks<A: DeviceAlloc>(
    heap: Heap<A>,
    steps: &[Step],
    slots: &[AtomicWord],
) -> Result<(), AllocError> {
    let step = mine(steps);
    if step.slot != NONE {
        let layout = layout::bytes(step.size as usize);
        let slot = &slots[step.slot as usize];
        if step.other == 0 {
            let ptr = heap.malloc(layout)?;
            slot.store(ptr.granule());
        } else {
            let ptr = handle(slots, step);
            // SAFETY: the caller's promise.
            unsafe {
                if step.other == FREES {
                    heap.free(ptr, layout);
                } else {
                    let moved = heap.realloc(ptr, layout, step.other as usize)?;
                    slot.store(moved.granule());
                }
            }
        }
    }
    Ok(())
}

/// In the counts of [`spends`]: granules that all lanes have.
pub const LIVE: usize = 0;
/// The most of them that a lane saw.
pub const MOST: usize = 1;
/// Blocks that were handed out.
pub const MALLOCS: usize = 2;
/// Blocks that were resized.
pub const RESIZED: usize = 3;
/// Requests that failed.
pub const FAILED: usize = 4;
/// How many counts there are.
pub const COUNTS: usize = 5;

/// Each lane has one block or none, of many sizes, `rounds` times; then none. It counts granules when it has them, and no longer
/// before it gives them back: so the count is never more than what is allocated.
#[kernel(allocators = [Limited<WarpHeap>, Limited<Counted<ScatterAlloc>>, Traced<WarpHeap>, Traced<Limited<ScatterAlloc>>])]
pub fn spends<A: DeviceAlloc>(heap: Heap<A>, counts: &[AtomicWord], rounds: u32) {
    let mut random = thread::index().wrapping_mul(0x9e37_79b1) ^ 0x3c3c;
    let mut ptr = DevicePtr::<u8>::NULL;
    let mut size = 0;
    let mut round = 0;
    while round < rounds {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let next = (random >> 8) % 1500;
        let layout = layout::bytes(size as usize);
        let asked = layout::bytes(next as usize);
        if ptr.is_null() {
            match heap.malloc(asked) {
                Ok(block) => {
                    ptr = block;
                    size = next;
                    counts[MALLOCS].fetch_add(1);
                    add(counts, granules(heap, asked));
                }
                Err(_) => {
                    counts[FAILED].fetch_add(1);
                }
            }
        } else if random >> 30 == 0 {
            // SAFETY: the block is this lane's.
            match unsafe { heap.realloc(ptr, layout, next as usize) } {
                Ok(block) => {
                    ptr = block;
                    size = next;
                    counts[RESIZED].fetch_add(1);
                    counts[LIVE].fetch_sub(granules(heap, layout));
                    add(counts, granules(heap, asked));
                }
                Err(_) => {
                    counts[FAILED].fetch_add(1);
                }
            }
        } else {
            counts[LIVE].fetch_sub(granules(heap, layout));
            // SAFETY: the block is this lane's.
            unsafe { heap.free(ptr, layout) };
            ptr = DevicePtr::NULL;
        }
        round += 1;
    }
    let layout = layout::bytes(size as usize);
    if !ptr.is_null() {
        counts[LIVE].fetch_sub(granules(heap, layout));
    }
    // SAFETY: the block is this lane's, or null.
    unsafe { heap.free(ptr, layout) };
}

#[inline(always)]
fn granules<A: DeviceAlloc>(heap: Heap<A>, layout: Layout) -> u32 {
    layout::granules(heap.rounded(layout))
}

#[inline(always)]
fn add(counts: &[AtomicWord], granules: u32) {
    let live = counts[LIVE].fetch_add(granules) + granules;
    counts[MOST].fetch_max(live);
}
