use warpheap_rt::device::*;

#[derive(Clone, Copy, HeapData)]
#[repr(C)]
pub struct Named {
    id: u32,
    name: &'static str,
}

fn main() {}
