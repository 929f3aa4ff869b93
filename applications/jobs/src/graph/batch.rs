//! How a batch of edges is laid out for the insert kernel.
//!
//! The kernel runs one lane per vertex of the batch, so no two lanes ever grow the same vector. This groups a batch by target vertex.
//! What it costs depends on the batch alone, and batches know nothing of each other, so several threads lay out several.

use crate::threads;
use std::cmp::Reverse;
use warpheap_applications::graph::Segment;

/// Edges of batches that are laid out at the same time, at most, but for one batch: 24 bytes each on the host.
const EDGES_AT_ONCE: usize = 1 << 26;

/// One batch, grouped.
#[derive(Debug, Default)]
pub struct Batch {
    /// One segment of `sources` per vertex that an edge of the batch enters, the longest first: lanes of a warp then
    /// have about the same work, and the longest run starts at once.
    pub groups: Vec<Segment>,
    /// Sources of the edges, group by group, in the order of the input inside a group.
    pub sources: Vec<u32>,
}

impl Batch {
    /// Groups these edges, which 32 bits count.
    pub fn of(edges: &[[u32; 2]]) -> Self {
        let place =
            |([_, target], place): (&[u32; 2], u32)| u64::from(*target) << 32 | u64::from(place);
        let mut places: Vec<u64> = edges.iter().zip(0..).map(place).collect();
        // Edges of a vertex stay in their order, since no two places are the same.
        places.sort_unstable();
        let vertex = |place: &u64| (place >> 32) as u32;
        let mut end = 0;
        let runs = places.chunk_by(|a, b| vertex(a) == vertex(b)).map(|run| {
            let begin = end;
            end += run.len() as u32;
            Segment {
                vertex: vertex(&run[0]),
                begin,
                end,
            }
        });
        let mut groups: Vec<Segment> = runs.collect();
        groups.sort_by_key(|group| Reverse(group.end - group.begin));
        let mut sources = Vec::with_capacity(edges.len());
        for group in &mut groups {
            let run = &places[group.begin as usize..group.end as usize];
            group.begin = sources.len() as u32;
            sources.extend(run.iter().map(|place| edges[*place as u32 as usize][0]));
            group.end = sources.len() as u32;
        }
        Batch { groups, sources }
    }

    /// How many batches of so many edges are laid out at the same time.
    pub fn at_once(edges: usize) -> usize {
        (EDGES_AT_ONCE / edges.max(1)).clamp(1, threads::count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_target_longest_first() {
        let batch = Batch::of(&[[0, 5], [1, 2], [3, 5], [4, 0], [0, 5]]);
        let of = |vertex, begin, end| Segment { vertex, begin, end };
        assert_eq!(batch.groups, [of(5, 0, 3), of(0, 3, 4), of(2, 4, 5)]);
        assert_eq!(batch.sources, [0, 3, 0, 4, 1]);
    }

    #[test]
    fn keeps_every_edge() {
        let graph = crate::graph::generate::Rmat {
            scale: 8,
            edge_factor: 16,
            seed: 1,
        }
        .generate();
        let mut seen = Vec::new();
        for edges in graph.edges.chunks(1000) {
            let batch = Batch::of(edges);
            for group in &batch.groups {
                for source in &batch.sources[group.begin as usize..group.end as usize] {
                    seen.push([*source, group.vertex]);
                }
            }
        }
        let mut edges = graph.edges.clone();
        edges.sort_unstable();
        seen.sort_unstable();
        assert_eq!(edges, seen);
    }
}
