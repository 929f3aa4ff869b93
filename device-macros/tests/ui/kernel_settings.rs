use warpheap_rt::device::*;

#[kernel(allocator = all)]
pub fn unknown_setting<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

#[kernel(allocators = [])]
pub fn empty_list<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

#[kernel(allocators = every)]
pub fn unknown_word<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

#[kernel(allocators = Counted<every>)]
pub fn unknown_word_in_an_adaptor<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

#[kernel(allocators = all, threads = 64)]
pub fn something_behind<A: DeviceAlloc>(heap: Heap<A>) {
    let _ = heap;
}

#[kernel(max_registers = 300)]
pub fn more_registers_than_there_are() {}

#[kernel(max_registers = 32, max_registers = 64)]
pub fn twice() {}

fn main() {}
