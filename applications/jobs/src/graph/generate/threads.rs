//! Edges made by several threads, in their order.

use crate::threads::{each, in_parts, processors};
use std::ops::Range;

/// Vertices that are worth a thread.
const LEAST: u32 = 1 << 12;

/// The edges of these numbers, made by all threads of the machine.
pub fn numbered(numbers: Range<u64>, edge: impl Fn(u64) -> [u32; 2] + Sync) -> Vec<[u32; 2]> {
    let count = (numbers.end - numbers.start) as usize;
    let share = count.div_ceil(processors()).max(1);
    let mut edges = vec![[0u32; 2]; count];
    let parts = edges.chunks_mut(share).enumerate().collect();
    each(parts, |(part, slice)| {
        let first = numbers.start + (part * share) as u64;
        for (number, place) in (first..).zip(slice) {
            *place = edge(number);
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
