// What an owner gives is passed for its own type alone.
use warpheap_rt::api::host::{LaunchConfig, Pool, SharedArg};
use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[kernel(allocators = [Bump])]
pub fn count<A: DeviceAlloc>(heap: Heap<A>, map: HeapHashMap<u32, u32>) {
    let _ = (heap, map);
}

pub fn other(kernels: &Kernels, pool: &Pool<Bump>, map: SharedArg<HeapHashMap<u32, [u32; 2]>>) {
    let _ = kernels.count(pool, LaunchConfig::for_num_elems(1), map);
}

fn main() {}
