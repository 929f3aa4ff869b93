use warpheap_rt::device::*;

#[kernel]
pub fn k(counter: &u32) {
    let _ = counter;
}

fn main() {}
