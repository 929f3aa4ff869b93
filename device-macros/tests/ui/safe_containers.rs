// What safe code cannot do with containers that own memory, and with the words of a heap.
use warpheap_rt::api::abi::ArgBlock;
use warpheap_rt::api::host::{DeviceVec, LaunchConfig};
use warpheap_rt::device::*;

pub struct Kernels(warpheap_rt::api::host::Module);

impl Kernels {
    pub fn module(&self, _: &str) -> &warpheap_rt::api::host::Module {
        &self.0
    }
}

pub fn freed_twice<A: DeviceAlloc>(heap: Heap<A>, lists: &[HeapVec<u32>]) {
    let mut list = lists[0];
    list.free(heap);
}

pub fn used_after_it_was_moved<A: DeviceAlloc>(heap: Heap<A>, list: HeapVec<u32>) -> u32 {
    let mut other = list;
    other.free(heap);
    list.get_or(heap, 0, 0)
}

pub fn element_that_owns_copied<A: DeviceAlloc>(heap: Heap<A>, lists: &HeapVec<HeapVec<u32>>) {
    let _ = lists.get_or(heap, 0, HeapVec::new());
}

pub fn words_of_the_heap<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap.words();
    let _ = heap.allocator();
}

pub fn forged<A: DeviceAlloc>(heap: Heap<A>) {
    let mut list = <HeapVec<u32> as HeapData>::from_args(&ArgBlock { words: [1; 32] }, 4);
    let _ = list.set(heap, 0, 1);
}

pub fn freed_under_others<A: DeviceAlloc>(heap: Heap<A>, map: HeapHashMap<u32, u32>) {
    let mut map = map;
    map.free_all(heap);
}

pub fn freed_under_its_cursor<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapList<u32>) -> u32 {
    let mut cursor = list.cursor(heap);
    list.free(heap);
    cursor.next_or(heap, 0)
}

pub fn lanes_that_do_not_come() {
    thread::block_barrier();
}

pub fn copied_on_the_host(lists: &DeviceVec<HeapVec<u32>>) {
    let _ = lists.to_vec();
}

#[kernel(allocators = [Bump])]
pub fn given_to_all_lanes<A: DeviceAlloc>(heap: Heap<A>, list: HeapVec<u32>) {
    let _ = (heap, list);
}

pub fn shape() -> LaunchConfig {
    LaunchConfig::for_num_elems(1)
}

fn main() {}
