use warpheap_rt::device::*;

#[kernel(unsafe(slices))]
pub fn k(out: &mut [u32]) -> ! {
    loop {
        out[0] += 1;
    }
}

fn main() {}
