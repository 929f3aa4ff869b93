//! How a batch of edges is laid out for the insert kernel.
//!
//! The kernel runs one lane per vertex of the batch, so no two lanes ever grow the same vector. This
//! groups a batch by target vertex with a counting sort whose cost depends on the batch alone.

use warpheap_applications::graph::Segment;

/// One batch, grouped. Reused from batch to batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// One segment of `sources` per vertex that an edge of the batch enters, the longest first: lanes of a warp then
    /// have about the same work, and the longest run starts at once.
    pub groups: Vec<Segment>,
    /// Sources of the edges, group by group, in the order of the input inside a group.
    pub sources: Vec<u32>,
    /// Per vertex: edges counted, then the place of the next one. Zero between calls.
    counters: Vec<u32>,
}

impl Batch {
    /// A grouper for graphs of that many vertices.
    pub fn new(vertices: u32) -> Self {
        Self {
            counters: vec![0; vertices as usize],
            ..Self::default()
        }
    }

    /// Groups these edges; what was grouped before is gone.
    pub fn group(&mut self, edges: &[[u32; 2]]) {
        self.groups.clear();
        for [_, target] in edges {
            let counter = &mut self.counters[*target as usize];
            if *counter == 0 {
                self.groups.push(Segment {
                    vertex: *target,
                    begin: 0,
                    end: 0,
                });
            }
            *counter += 1;
        }
        // Beside each other, so that sorting does not look for them all over the memory.
        let counters = &mut self.counters;
        for group in &mut self.groups {
            group.end = counters[group.vertex as usize];
        }
        let longest_first = |group: &Segment| u64::from(!group.end) << 32 | u64::from(group.vertex);
        self.groups.sort_unstable_by_key(longest_first);
        let mut end = 0;
        for group in &mut self.groups {
            group.begin = end;
            end += group.end;
            group.end = end;
            counters[group.vertex as usize] = group.begin;
        }
        self.sources.clear();
        self.sources.resize(edges.len(), 0);
        for [source, target] in edges {
            let counter = &mut counters[*target as usize];
            self.sources[*counter as usize] = *source;
            *counter += 1;
        }
        for group in &self.groups {
            counters[group.vertex as usize] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_target_longest_first() {
        let mut batch = Batch::new(6);
        batch.group(&[[0, 5], [1, 2], [3, 5], [4, 0], [0, 5]]);
        let of = |vertex, begin, end| Segment { vertex, begin, end };
        assert_eq!(batch.groups, [of(5, 0, 3), of(0, 3, 4), of(2, 4, 5)]);
        assert_eq!(batch.sources, [0, 3, 0, 4, 1]);
    }

    #[test]
    fn nothing_is_left_over_from_the_batch_before() {
        let edges = [[0, 1], [1, 1], [2, 0], [0, 2]];
        let mut reused = Batch::new(3);
        reused.group(&[[2, 2], [1, 2], [0, 0]]);
        reused.group(&edges);
        let mut fresh = Batch::new(3);
        fresh.group(&edges);
        assert_eq!(reused.groups, fresh.groups);
        assert_eq!(reused.sources, fresh.sources);
        reused.group(&[]);
        assert!(reused.groups.is_empty() && reused.sources.is_empty());
    }

    #[test]
    fn keeps_every_edge() {
        let graph = crate::graph::generate::Rmat {
            scale: 8,
            edge_factor: 16,
            seed: 1,
        }
        .generate();
        let mut batch = Batch::new(graph.vertices);
        let mut seen = Vec::new();
        for edges in graph.edges.chunks(1000) {
            batch.group(edges);
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
