use warpheap_rt::device::*;

#[kernel(allocators = all, unsafe(slices))]
pub fn k<A: DeviceAlloc, T: HeapData>(heap: Heap<A>, out: &mut [T]) {
    let _ = (heap, out);
}

fn main() {}
