use warpheap_rt::api::host::{DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_rt::device::*;

pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

// What `device_module!(allocators = [Bump, Counted<WarpHeap>])` makes besides.
warpheap_rt::__listed! { Bump, Counted<WarpHeap> }

mod kernels {
    use warpheap_rt::device::*;

    #[kernel(allocators = listed, max_registers = 64)]
    pub fn push<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>) -> Result<(), AllocError> {
        list.push(heap, 1)
    }
}

pub fn listed<A: Allocator>(kernels: &Kernels, pool: &Pool<A>, lists: &mut DeviceVec<HeapVec<u32>>) {
    let _ = kernels.push(pool, LaunchConfig::for_num_elems(1), lists);
}

pub fn others(kernels: &Kernels, pool: &Pool<WarpHeap>, lists: &mut DeviceVec<HeapVec<u32>>) {
    let _ = kernels.push(pool, LaunchConfig::for_num_elems(1), lists);
}

pub fn any<A: HostAlloc>(kernels: &Kernels, pool: &Pool<A>, lists: &mut DeviceVec<HeapVec<u32>>) {
    let _ = kernels.push(pool, LaunchConfig::for_num_elems(1), lists);
}

fn main() {}
