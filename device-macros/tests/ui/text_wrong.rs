use warpheap_rt::device::*;

#[derive(Clone, Copy)]
pub struct Pair(u32, u32);

pub fn formats(log: Log, x: u32) {
    heap_print!(log, "{} {}", x);
    heap_print!(log, "{}", x, x);
    heap_print!(log, "{:?}", x);
    heap_print!(log, "{:e}", 1.5f32);
    heap_print!(log, "{:.10}", 1.5f32);
    heap_print!(log, "{:w$}", x);
    heap_print!(log, "{x", x);
    heap_print!(log, "{x + 1}");
    heap_print!(log, "{missing}");
    heap_print!(log, x);
}

pub fn types(log: Log, pair: Pair) {
    heap_print!(log, "{}", pair);
    heap_print!(log, "{:x}", 1.5f32);
    heap_print!(log, "{:.3}", 5u32);
}

/// A string cannot be appended to itself.
pub fn itself<A: DeviceAlloc>(heap: Heap<A>, string: &mut HeapString) {
    let _ = heap_write!(string, heap, "{}", string.text(heap));
}

fn main() {}
