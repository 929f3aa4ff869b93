//! A batch of edges as the kernels want it: sorted by vertex and neighbour, without duplicates.

use crate::graph::generate::mix;
use crate::graph::reference::InNeighbours;
use warpheap_applications::graph::Segment;

/// Edges of a batch of the initial graph, at most, unless one vertex has more.
const INITIAL: usize = 1 << 26;

/// A batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The vertex of each edge.
    pub owners: Vec<u32>,
    /// Its neighbour.
    pub edges: Vec<u32>,
    /// The vertices, with their edges' places.
    pub segments: Vec<Segment>,
}

impl Batch {
    fn push(&mut self, owner: u32, neighbours: &[u32]) {
        let begin = self.edges.len() as u32;
        self.edges.extend(neighbours);
        self.owners.resize(self.edges.len(), owner);
        self.segments.push(Segment {
            vertex: owner,
            begin,
            end: self.edges.len() as u32,
        });
    }

    /// `count` random edges from the first `focus` vertices to any, but for those that come twice or are self loops.
    pub fn random(vertices: u32, focus: u32, count: u32, seed: u64) -> Self {
        let edge = |number: u32| {
            let draw = mix(seed ^ mix(u64::from(number)));
            let part = |draw: u64, among: u32| ((draw & 0xFFFF_FFFF) * u64::from(among)) >> 32;
            part(draw >> 32, focus) << 32 | part(draw, vertices)
        };
        let mut pairs: Vec<u64> = (0..count).map(edge).collect();
        pairs.retain(|pair| pair >> 32 != pair & 0xFFFF_FFFF);
        pairs.sort_unstable();
        pairs.dedup();
        let mut batch = Batch::default();
        for row in pairs.chunk_by(|a, b| a >> 32 == b >> 32) {
            let neighbours: Vec<u32> = row.iter().map(|pair| *pair as u32).collect();
            batch.push((row[0] >> 32) as u32, &neighbours);
        }
        batch
    }

    /// The rows of a graph as batches of whole rows.
    pub fn initial(rows: &InNeighbours) -> Vec<Self> {
        let mut batches = Vec::new();
        let mut batch = Batch::default();
        for vertex in 0..rows.vertices() {
            let row = &rows.sources[rows.range(vertex)];
            if !batch.edges.is_empty() && batch.edges.len() + row.len() > INITIAL {
                batches.push(std::mem::take(&mut batch));
            }
            if !row.is_empty() {
                batch.push(vertex, row);
            }
        }
        if !batch.edges.is_empty() {
            batches.push(batch);
        }
        batches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::edges::EdgeList;

    #[test]
    fn random_batches_are_sorted_and_focused() {
        let batch = Batch::random(1000, 10, 5000, 3);
        assert!(batch.owners.iter().all(|owner| *owner < 10));
        assert!(batch.edges.iter().all(|edge| *edge < 1000));
        assert_eq!(batch.segments.len(), 10);
        let pairs: Vec<_> = batch.owners.iter().zip(&batch.edges).collect();
        assert!(pairs.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(pairs.iter().all(|(owner, edge)| owner != edge));
        assert!((3500..4500).contains(&pairs.len()), "{}", pairs.len());
        for segment in &batch.segments {
            let row = segment.begin as usize..segment.end as usize;
            assert!(
                batch.owners[row]
                    .iter()
                    .all(|owner| *owner == segment.vertex)
            );
        }
        assert_ne!(batch, Batch::random(1000, 10, 5000, 4));
    }

    #[test]
    fn initial_batches_are_the_rows() {
        let list = EdgeList {
            vertices: 4,
            edges: vec![[3, 1], [0, 1], [2, 3]],
            base: 0,
        };
        let batches = Batch::initial(&InNeighbours::new(&list));
        assert_eq!(batches.len(), 1);
        assert_eq!(batches[0].owners, [1, 1, 3]);
        assert_eq!(batches[0].edges, [0, 3, 2]);
    }
}
