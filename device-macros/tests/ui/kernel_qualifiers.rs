use warpheap_rt::device::*;

#[kernel]
pub async fn asynchronous(out: &mut [u32]) {
    out[0] = 1;
}

#[kernel]
pub const fn constant(out: &mut [u32]) {
    out[0] = 1;
}

#[kernel]
pub extern "C" fn foreign(out: &mut [u32]) {
    out[0] = 1;
}

fn main() {}
