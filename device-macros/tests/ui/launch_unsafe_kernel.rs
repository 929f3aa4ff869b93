use warpheap_rt::api::host::{DeviceVec, LaunchConfig};
use warpheap_rt::device::*;

pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

/// # Safety
/// `at` is an element of no other lane.
#[kernel]
pub unsafe fn put(out: Scatter<u32>, at: u32) {
    // SAFETY: the caller's promise.
    unsafe { out.write(at, 1) };
}

pub fn without_a_promise(kernels: &Kernels, vec: &mut DeviceVec<u32>) {
    let _ = kernels.put(LaunchConfig::for_num_elems(1), vec, 0);
}

fn main() {}
