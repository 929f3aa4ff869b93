use warpheap_rt::device::*;

#[kernel]
pub fn module(out: &mut u32) {
    *out = 1;
}

fn main() {}
