//! What a graph is once it has been read or generated: a list of directed edges.
//!
//! Edges are taken one by one as they stand: self loops and duplicates are edges like any other, so
//! that the number of edges is the number of entries of the file (twice the off-diagonal ones of a
//! symmetric matrix). `--simple` drops both. The device job and the CPU reference work on this list,
//! so they follow the same rule.

use crate::threads::in_parts;
use std::sync::atomic::{AtomicU32, Ordering};

/// Edges, or vertices, that are worth a thread.
const LEAST: u32 = 1 << 14;

/// A directed multigraph on the vertices `0..vertices`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeList {
    /// Number of vertices; every id in `edges` is smaller.
    pub vertices: u32,
    /// `[source, target]` pairs in the order of the input.
    pub edges: Vec<[u32; 2]>,
    /// What to add to an id before it is shown to the user: 1 when the input counts from 1.
    pub base: u32,
}

impl EdgeList {
    /// Drops self loops and all but one of equal edges. The edges end up sorted.
    pub fn make_simple(&mut self) {
        self.edges = simple(&self.edges, self.vertices, 0);
    }

    /// Number of edges that leave each vertex.
    pub fn out_degrees(&self) -> Vec<u32> {
        out_degrees(&self.edges, self.vertices)
    }

    /// Number of edges that enter each vertex.
    pub fn in_degrees(&self) -> Vec<u32> {
        in_degrees(&self.edges, self.vertices)
    }
}

/// These edges in order, without self loops and all but one of equal ones. Their sources are less than `vertices`, and their targets
/// count from vertex `first`. Several threads sort, each those from some of the vertices.
pub fn simple(edges: &[[u32; 2]], vertices: u32, first: u32) -> Vec<[u32; 2]> {
    let sorted = in_parts(vertices, LEAST, |sources| {
        let ours =
            |[source, target]: &&[u32; 2]| sources.contains(source) && *source != *target + first;
        let mut some: Vec<[u32; 2]> = edges.iter().filter(ours).copied().collect();
        some.sort_unstable();
        some.dedup();
        some
    });
    sorted.concat()
}

/// How many of these edges, which 32 bits count, leave each of so many vertices.
pub fn out_degrees(edges: &[[u32; 2]], vertices: u32) -> Vec<u32> {
    counted(edges, vertices, |[source, _]| *source)
}

/// How many of these edges, which 32 bits count, enter each of so many vertices.
pub fn in_degrees(edges: &[[u32; 2]], vertices: u32) -> Vec<u32> {
    counted(edges, vertices, |[_, target]| *target)
}

/// How many edges have each of so many vertices at one end; several threads count.
fn counted(edges: &[[u32; 2]], vertices: u32, end: impl Fn(&[u32; 2]) -> u32 + Sync) -> Vec<u32> {
    let counts: Vec<AtomicU32> = (0..vertices).map(|_| AtomicU32::new(0)).collect();
    in_parts(edges.len() as u32, LEAST, |range| {
        for edge in &edges[range.start as usize..range.end as usize] {
            counts[end(edge) as usize].fetch_add(1, Ordering::Relaxed);
        }
    });
    counts.into_iter().map(AtomicU32::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_drops_loops_and_duplicates() {
        let mut graph = EdgeList {
            vertices: 3,
            edges: vec![[2, 1], [0, 0], [2, 1], [1, 2], [0, 1]],
            base: 0,
        };
        assert_eq!(graph.out_degrees(), [2, 1, 2]);
        graph.make_simple();
        assert_eq!(graph.edges, [[0, 1], [1, 2], [2, 1]]);
        assert_eq!(graph.out_degrees(), [1, 1, 1]);
    }

    #[test]
    fn threads_do_not_matter() {
        // More edges and vertices than one thread takes.
        let vertices = 3 * LEAST;
        let end = |number: u32| (number.wrapping_mul(2_654_435_761) >> 7) % vertices;
        let edges: Vec<[u32; 2]> = (0..5 * LEAST).map(|n| [end(n), end(n / 3)]).collect();
        let mut degrees = vec![[0; 2]; vertices as usize];
        for [source, target] in &edges {
            degrees[*source as usize][0] += 1;
            degrees[*target as usize][1] += 1;
        }
        let of = |end: usize| -> Vec<u32> { degrees.iter().map(|both| both[end]).collect() };
        assert_eq!(out_degrees(&edges, vertices), of(0));
        assert_eq!(in_degrees(&edges, vertices), of(1));

        let mut expected = edges.clone();
        expected.retain(|[source, target]| source != target);
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(simple(&edges, vertices, 0), expected);
        assert!(expected.len() < edges.len());
    }
}
