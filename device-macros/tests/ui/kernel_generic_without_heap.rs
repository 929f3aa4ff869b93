use warpheap_rt::device::*;

#[kernel(unsafe(slices))]
pub fn k<T: HeapData>(out: &mut [T]) {
    let _ = out;
}

fn main() {}
