//! Compaction of a heap with rows: arrays leave regions that are nearly empty, which then serve any size.

use super::Row;
use warpheap_rt::device::*;

/// Marks regions that are less than `percent` in use, and adds their number to `marked[0]`. Any number of lanes.
#[kernel(allocators = Counted<all>)]
pub fn rows_compact<A: DeviceAlloc>(heap: Heap<A>, marked: &[AtomicWord], percent: u32) {
    let mine = heap.begin_compaction(percent, thread::index(), thread::count());
    if mine != 0 {
        marked[0].fetch_add(mine);
    }
}

/// Lane `v` moves the array of row `v` if it lies in such a region.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_relocate<A: DeviceAlloc>(heap: Heap<A>, rows: &mut [Row]) {
    let v = thread::index() as usize;
    if v < rows.len() {
        let row = rows[v];
        let mut array = DevicePtr::NULL;
        if row.capacity != 0 {
            array = row.array;
        }
        // Lanes without an array come along, since all that come together copy together.
        let layout = layout::array::<u32>(row.capacity);
        // SAFETY: the array is the row's, got with this layout, and no other lane has the row.
        let moved = unsafe { heap.relocate(array.cast(), layout) };
        if moved.granule() != array.granule() {
            rows[v].array = moved.cast();
        }
    }
}

/// Takes the marks away. Any number of lanes.
#[kernel(allocators = Counted<all>)]
pub fn rows_compacted<A: DeviceAlloc>(heap: Heap<A>) {
    heap.end_compaction(thread::index(), thread::count());
}
