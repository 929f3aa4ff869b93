use warpheap_rt::device::*;

#[derive(Clone, Copy, HeapData)]
#[repr(u32)]
pub enum Kind {
    One = 1,
    Two = 2,
}

fn main() {}
