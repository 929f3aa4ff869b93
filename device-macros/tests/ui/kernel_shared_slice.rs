use warpheap_rt::device::*;

#[kernel]
pub fn races(out: &mut [u32]) {
    out[0] = thread::index();
}

#[kernel(unsafe(slices))]
pub fn promises_nothing(values: &[u32]) {
    let _ = values;
}

#[kernel(unsafe(everything))]
pub fn promises_too_much(out: &mut [u32]) {
    out[0] = 1;
}

fn main() {}
