use warpheap_rt::api::host::{DeviceVec, LaunchConfig};
use warpheap_rt::device::*;

pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[kernel]
pub fn add(sums: &mut u32, values: &[u32]) {
    *sums += values[0];
}

pub fn twice(kernels: &Kernels, vec: &mut DeviceVec<u32>) {
    let _ = kernels.add(LaunchConfig::for_num_elems(1), vec, vec);
}

fn main() {}
