// A container that lanes share is passed as its owner gives it: its words alone do not say of which heap it is, or who frees it.
use warpheap_rt::api::host::{DeviceVec, LaunchConfig, Pool, SharedArg};
use warpheap_rt::device::*;

/// Stands for what `device_module!` makes in a crate with a build script.
pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

#[derive(Clone, Copy, HeapData)]
#[repr(C)]
pub struct Work {
    queue: HeapQueue<u32>,
    steps: u32,
}

#[kernel(allocators = [Bump])]
pub fn count<A: DeviceAlloc>(heap: Heap<A>, map: HeapHashMap<u32, u32>, work: Work) {
    let _ = (heap, map, work);
}

#[kernel(allocators = [Bump])]
pub fn containers_in_it<A: DeviceAlloc>(heap: Heap<A>, map: HeapHashMap<u32, HeapQueue<u32>>) {
    let _ = (heap, map);
}

type Map = HeapHashMap<u32, u32>;

pub fn bare(kernels: &Kernels, pool: &Pool<Bump>, maps: &DeviceVec<Map>, work: SharedArg<Work>) {
    let map = maps.to_vec().unwrap()[0];
    let _ = kernels.count(pool, LaunchConfig::for_num_elems(1), map, work);
}

pub fn inside(kernels: &Kernels, pool: &Pool<Bump>, map: SharedArg<Map>, work: &DeviceVec<Work>) {
    let work = work.to_vec().unwrap()[0];
    let _ = kernels.count(pool, LaunchConfig::for_num_elems(1), map, work);
}

pub fn nested(kernels: &Kernels, pool: &Pool<Bump>, map: SharedArg<HeapHashMap<u32, HeapQueue<u32>>>) {
    let _ = kernels.containers_in_it(pool, LaunchConfig::for_num_elems(1), map);
}

pub fn written(maps: &mut DeviceVec<Map>, map: Map) {
    let _ = maps.copy_from(&[map]);
}

fn main() {
    // Whether a type is a container is told where the functions are compiled, so they are used.
    let _ = (bare as fn(_, _, _, _), inside as fn(_, _, _, _), nested as fn(_, _, _), written as fn(_, _));
}
