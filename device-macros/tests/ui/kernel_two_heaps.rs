use warpheap_rt::device::*;

#[kernel(allocators = all)]
pub fn k<A: DeviceAlloc>(from: Heap<A>, to: Heap<A>) {
    let _ = (from, to);
}

fn main() {}
