//! Edges made by several threads, in their order.

use crate::threads::in_parts;
use std::ops::Range;
use std::thread;

/// Vertices that are worth a thread.
const LEAST: u32 = 1 << 12;

/// The edges of these numbers, made by all threads of the machine.
pub fn numbered(numbers: Range<u64>, edge: impl Fn(u64) -> [u32; 2] + Sync) -> Vec<[u32; 2]> {
    let count = (numbers.end - numbers.start) as usize;
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    let share = count.div_ceil(threads).max(1);
    let mut edges = vec![[0u32; 2]; count];
    let of = &edge;
    thread::scope(|scope| {
        for (part, slice) in edges.chunks_mut(share).enumerate() {
            let first = numbers.start + (part * share) as u64;
            scope.spawn(move || {
                for (number, edge) in (first..).zip(slice) {
                    *edge = of(number);
                }
            });
        }
    });
    edges
}

/// The edges that `add` appends for each of these vertices.
pub fn around(vertices: Range<u32>, add: impl Fn(u32, &mut Vec<[u32; 2]>) + Sync) -> Vec<[u32; 2]> {
    let parts = in_parts(vertices.end - vertices.start, LEAST, |range| {
        let mut edges = Vec::new();
        for number in range {
            add(vertices.start + number, &mut edges);
        }
        edges
    });
    parts.concat()
}
