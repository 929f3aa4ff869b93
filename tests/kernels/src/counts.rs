//! Statistics as a kernel reads them.

use warpheap_rt::api::HeapCounters;
use warpheap_rt::device::*;

/// Reads the counts from inside a kernel: mallocs, then frees.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn read_counts<A: HeapCounters>(heap: Heap<A>, counts: &mut [u32]) {
    if thread::index() == 0 {
        // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
        let found = unsafe { heap.allocator() }.counts();
        counts[0] = found.mallocs;
        counts[1] = found.frees;
    }
}
