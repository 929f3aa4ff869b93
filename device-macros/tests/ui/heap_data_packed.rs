use warpheap_rt::device::*;

#[derive(Clone, Copy, HeapData)]
#[repr(C, packed)]
pub struct Pair {
    first: u32,
    second: u32,
}

fn main() {}
