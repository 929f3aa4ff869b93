use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

use warpheap_rt::api::host::{LaunchConfig, Pool};

#[kernel(allocators = [Counted<Bump>])]
pub fn touch<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

pub fn right(kernels: &Kernels, pool: &Pool<Counted<Bump>>) {
    let _ = kernels.touch(pool, LaunchConfig::for_num_elems(1));
}

pub fn wrong(kernels: &Kernels, pool: &Pool<ScatterAlloc>) {
    let _ = kernels.touch(pool, LaunchConfig::for_num_elems(1));
}

fn main() {}
