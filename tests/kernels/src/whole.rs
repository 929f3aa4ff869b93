//! What concerns a whole heap.

use warpheap_rt::device::*;

/// Frees everything.
#[kernel(allocators = [WarpHeap, Counted<WarpHeap>])]
pub fn free_everything<A: Reset>(heap: Heap<A>) {
    // SAFETY: the launch does nothing else, and the host forgets all blocks.
    unsafe { heap.reset(thread::index(), thread::count()) }
}

/// Adds up what the shares of all lanes hold: used granules, free granules, live blocks.
#[kernel(allocators = [WarpHeap, Counted<WarpHeap>])]
pub fn add_usage<A: HeapStats>(heap: Heap<A>, sums: &[AtomicWord]) {
    let usage = heap.usage(thread::index(), thread::count());
    sums[0].fetch_add(usage.used_granules);
    sums[1].fetch_add(usage.free_granules);
    sums[2].fetch_add(usage.live_blocks);
}

/// Each lane takes a block of `size` bytes and gives it back, and after either looks at the whole heap.
/// The most that any lane saw: used granules, used and free granules together, live blocks.
#[kernel(allocators = [WarpHeap])]
pub fn watch_usage<A: HeapStats>(heap: Heap<A>, most: &[AtomicWord], size: u32) {
    let layout = layout::bytes(size as usize);
    let mut round = 0;
    while round < 2 {
        let taken = heap.malloc(layout);
        see(heap, most);
        if let Ok(ptr) = taken {
            // SAFETY: the lane's own block of this layout.
            unsafe { heap.free(ptr, layout) }
        }
        see(heap, most);
        round += 1;
    }
}

#[inline(always)]
fn see<A: HeapStats>(heap: Heap<A>, most: &[AtomicWord]) {
    let usage = heap.usage(0, 1);
    most[0].fetch_max(usage.used_granules);
    most[1].fetch_max(usage.used_granules + usage.free_granules);
    most[2].fetch_max(usage.live_blocks);
}
