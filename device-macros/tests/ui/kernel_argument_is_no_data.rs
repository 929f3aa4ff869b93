use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[kernel(unsafe(slices))]
pub fn k(out: &mut [u32], name: char) {
    out[0] = name as u32;
}

fn main() {}
