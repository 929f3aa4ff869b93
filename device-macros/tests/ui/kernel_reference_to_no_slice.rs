use warpheap_rt::device::*;

#[kernel]
pub fn k(counter: &mut u32) {
    *counter += 1;
}

fn main() {}
