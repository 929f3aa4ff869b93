//! What a graph is once it has been read or generated: a list of directed edges.
//!
//! Edges are taken one by one as they stand: self loops and duplicates are edges like any other, so
//! that the number of edges is the number of entries of the file (twice the off-diagonal ones of a
//! symmetric matrix). `--simple` drops both. The device job and the CPU reference work on this list,
//! so they follow the same rule.

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
        self.edges.retain(|[source, target]| source != target);
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    /// Number of edges that leave each vertex.
    pub fn out_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0u32; self.vertices as usize];
        for [source, _] in &self.edges {
            degrees[*source as usize] += 1;
        }
        degrees
    }
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
}
