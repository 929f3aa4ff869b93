//! The same programs on counting heaps.

use crate::program::{Op, Outcome, Slot, run_lane};
use warpheap_rt::api::HeapStats;
use warpheap_rt::device::*;

/// [`run_programs`](crate::program::run_programs) on a counting heap.
#[kernel(allocators = Counted<all>)]
pub fn run_counted<A: DeviceAlloc>(
    heap: Heap<A>,
    ops: &[Op],
    starts: &[u32],
    slots: &mut [Slot],
    outcomes: &mut [Outcome],
    clock: &[AtomicWord],
) {
    run_lane(heap, ops, starts, slots, outcomes, clock);
}

/// Reads the counts from inside a kernel: mallocs, then frees.
#[kernel(allocators = Counted<all>)]
pub fn read_counts<A: HeapStats>(heap: Heap<A>, counts: &mut [u32]) {
    if thread::index() == 0 {
        let found = heap.allocator().counts();
        counts[0] = found.mallocs;
        counts[1] = found.frees;
    }
}
