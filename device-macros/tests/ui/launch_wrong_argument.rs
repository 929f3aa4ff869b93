use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

use warpheap_rt::api::host::{DeviceVec, LaunchConfig};

#[kernel(unsafe(slices))]
pub fn fill(out: &mut [u32], value: f32) {
    out[0] = value as u32;
}

pub fn wrong_element(kernels: &Kernels, out: &DeviceVec<f32>) {
    let _ = kernels.fill(LaunchConfig::for_num_elems(1), out, 1.0);
}

pub fn wrong_scalar(kernels: &Kernels, out: &DeviceVec<u32>) {
    let _ = kernels.fill(LaunchConfig::for_num_elems(1), out, 1u32);
}

pub fn argument_missing(kernels: &Kernels, out: &DeviceVec<u32>) {
    let _ = kernels.fill(LaunchConfig::for_num_elems(1), out);
}

fn main() {}
