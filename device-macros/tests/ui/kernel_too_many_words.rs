use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

/// Twenty-nine words, one more than are left.
#[derive(Clone, Copy, HeapData)]
#[repr(C)]
pub struct Many {
    first: [u32; 16],
    second: [u32; 13],
}

#[kernel(unsafe(slices))]
pub fn k(out: &mut [u32], many: Many) {
    out[0] = many.first[0];
}

fn main() {}
