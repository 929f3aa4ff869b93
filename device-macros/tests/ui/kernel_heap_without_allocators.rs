use warpheap_rt::device::*;

#[kernel]
pub fn k<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

fn main() {}
