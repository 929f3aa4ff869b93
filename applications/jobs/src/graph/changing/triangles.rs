//! The CPU's count of triangles.

use crate::graph::reference::InNeighbours;
use crate::threads::{each, processors};
use std::sync::atomic::{AtomicU32, Ordering};

/// Vertices that a thread takes at a time.
const TAKEN: u32 = 256;

/// Triangles of an undirected graph whose rows have each edge in both directions, once.
pub fn count(rows: &InNeighbours) -> u64 {
    let next = AtomicU32::new(0);
    let worker = |_| {
        let mut sum = 0;
        loop {
            let first = next.fetch_add(TAKEN, Ordering::Relaxed);
            if first >= rows.vertices() {
                return sum;
            }
            let last = rows.vertices().min(first + TAKEN);
            sum += (first..last).map(|vertex| of(rows, vertex)).sum::<u64>();
        }
    };
    each((0..processors()).collect(), worker).into_iter().sum()
}

/// Triangles whose smallest vertex this is.
fn of(rows: &InNeighbours, vertex: u32) -> u64 {
    let above = |of: u32, than: u32| {
        let row = &rows.sources[rows.range(of)];
        &row[row.partition_point(|other| *other <= than)..]
    };
    let mine = above(vertex, vertex);
    let mut sum = 0;
    for (at, other) in mine.iter().enumerate() {
        let (mut a, mut b) = (&mine[at + 1..], above(*other, *other));
        if a.len() > b.len() {
            (a, b) = (b, a);
        }
        for value in a {
            b = &b[b.partition_point(|other| other < value)..];
            sum += u64::from(b.first() == Some(value));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::edges::EdgeList;

    #[test]
    fn complete_graphs_have_all_triples() {
        let vertices = 300u32;
        let others = |a| (0..vertices).filter(move |b| a != *b);
        let edges = (0..vertices).flat_map(|a| others(a).map(move |b| [a, b]));
        let rows = InNeighbours::new(&EdgeList {
            vertices,
            edges: edges.collect(),
            base: 0,
        });
        assert_eq!(count(&rows), 300 * 299 * 298 / 6);
    }
}
