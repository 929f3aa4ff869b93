use warpheap_rt::device::*;

#[kernel(allocators = all, unsafe(slices))]
pub fn k(out: &mut [u32]) {
    out[0] = 1;
}

fn main() {}
