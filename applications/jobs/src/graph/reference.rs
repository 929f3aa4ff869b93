//! The plain CPU reference: the same graph and the same ranks, computed with no heap of ours.

use super::edges::EdgeList;
use crate::threads::{concat, in_parts};
use std::convert::Infallible;
use std::ops::Range;

/// Vertices that are worth a thread.
const LEAST: u32 = 1 << 14;

/// In-neighbours of every vertex, as compressed rows; each row is sorted, with multiplicity.
#[derive(Debug, PartialEq, Eq)]
pub struct InNeighbours {
    /// Row `v` is `sources[offsets[v]..offsets[v + 1]]`.
    pub offsets: Vec<u32>,
    /// Sources of the edges that enter each vertex, row after row.
    pub sources: Vec<u32>,
}

impl InNeighbours {
    /// Sorts the edges by target. The edges must be countable in 32 bits (the readers see to that).
    pub fn new(graph: &EdgeList) -> Self {
        Self::of(graph.vertices, &graph.edges)
    }

    /// As [`new`](Self::new), of so many targets; sources may be any vertices. Several threads sort, each what enters some of them.
    pub fn of(targets: u32, edges: &[[u32; 2]]) -> Self {
        let (mut offsets, mut sources) = (vec![0], Vec::new());
        let parts = in_parts(targets, LEAST, |targets| rows(targets, edges));
        let mut begin = 0;
        for (ends, some) in parts {
            offsets.extend(ends.iter().map(|end| begin + end));
            begin += some.len() as u32;
            sources.push(some);
        }
        let sources = concat(sources);
        Self { offsets, sources }
    }

    /// Where row `vertex` lies in `sources`.
    pub fn range(&self, vertex: u32) -> Range<usize> {
        let vertex = vertex as usize;
        self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize
    }

    /// Number of edges that enter the vertex.
    pub fn degree(&self, vertex: u32) -> u32 {
        let vertex = vertex as usize;
        self.offsets[vertex + 1] - self.offsets[vertex]
    }

    /// Number of edges that enter each vertex.
    pub fn degrees(&self) -> Vec<u32> {
        let pairs = self.offsets.windows(2);
        pairs.map(|pair| pair[1] - pair[0]).collect()
    }

    /// Number of vertices.
    pub fn vertices(&self) -> u32 {
        self.offsets.len().saturating_sub(1) as u32
    }
}

/// The sources of the edges that enter these vertices, row after row, each in order, and where each row ends.
fn rows(targets: Range<u32>, edges: &[[u32; 2]]) -> (Vec<u32>, Vec<u32>) {
    let ours = edges.iter().filter(|[_, target]| targets.contains(target));
    let ours = ours.map(|[source, target]| ((target - targets.start) as usize, *source));
    // First lengths, then begins, which become ends.
    let mut ends = vec![0u32; targets.len()];
    for (row, _) in ours.clone() {
        ends[row] += 1;
    }
    let mut all = 0;
    for end in &mut ends {
        let length = std::mem::replace(end, all);
        all += length;
    }
    let mut sources = vec![0u32; all as usize];
    for (row, source) in ours {
        let end = &mut ends[row];
        sources[*end as usize] = source;
        *end += 1;
    }
    let mut begin = 0;
    for end in &ends {
        sources[begin..*end as usize].sort_unstable();
        begin = *end as usize;
    }
    (ends, sources)
}

/// Parts of the PageRank recurrence that do not depend on the vertex.
///
/// `rank'[v] = base + damping * sum over in-neighbours u of rank[u] / out_degree[u]`. The rank of
/// vertices that no edge leaves is spread evenly over all vertices.
#[derive(Debug, Clone, Copy)]
pub struct PageRank {
    /// Number of vertices.
    pub vertices: u32,
    /// Share of rank that follows edges.
    pub damping: f64,
}

impl PageRank {
    /// The usual damping of 0.85.
    pub fn new(vertices: u32) -> Self {
        Self {
            vertices,
            damping: 0.85,
        }
    }

    /// Rank of every vertex before the first iteration.
    pub fn start(&self) -> f64 {
        1.0 / f64::from(self.vertices)
    }

    /// What every vertex gets in an iteration, given the rank held by vertices that no edge leaves.
    pub fn base(&self, dangling: f64) -> f64 {
        (1.0 - self.damping + self.damping * dangling) / f64::from(self.vertices)
    }

    /// Sum of the ranks of vertices that no edge leaves.
    pub fn dangling<T: Copy + Into<f64>>(ranks: &[T], out_degrees: &[u32]) -> f64 {
        ranks
            .iter()
            .zip(out_degrees)
            .filter(|(_, degree)| **degree == 0)
            .map(|(rank, _)| (*rank).into())
            .sum()
    }

    /// Runs the recurrence in double precision.
    pub fn run(&self, graph: &InNeighbours, out_degrees: &[u32], iterations: u32) -> Vec<f64> {
        let all = |mine: &[f64], all: &mut [f64]| {
            all.copy_from_slice(mine);
            Ok::<_, Infallible>(())
        };
        let Ok(ranks) = self.run_part(graph, out_degrees, iterations, all);
        ranks
    }

    /// The same for some of the vertices, whose in-neighbours these are. After each iteration `together` is given their ranks, and
    /// puts those of all vertices into its second argument.
    ///
    /// # Errors
    /// Those of `together`.
    pub fn run_part<E>(
        &self,
        graph: &InNeighbours,
        out_degrees: &[u32],
        iterations: u32,
        mut together: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<Vec<f64>, E> {
        let mut ranks = vec![self.start(); self.vertices as usize];
        let mut shares = vec![0.0; ranks.len()];
        let mut mine = vec![self.start(); graph.vertices() as usize];
        for _ in 0..iterations {
            let base = self.base(Self::dangling(&ranks, out_degrees));
            for ((share, rank), degree) in shares.iter_mut().zip(&ranks).zip(out_degrees) {
                // A vertex without out-edges is nobody's in-neighbour: its share is never read.
                *share = rank / f64::from((*degree).max(1));
            }
            let rank = |vertex| {
                let row = &graph.sources[graph.range(vertex)];
                let sum: f64 = row.iter().map(|source| shares[*source as usize]).sum();
                base + self.damping * sum
            };
            let parts = in_parts(graph.vertices(), LEAST, |vertices| {
                vertices.map(rank).collect::<Vec<f64>>()
            });
            mine = concat(parts);
            together(&mine, &mut ranks)?;
        }
        Ok(mine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(vertices: u32, edges: &[[u32; 2]]) -> EdgeList {
        EdgeList {
            vertices,
            edges: edges.to_vec(),
            base: 0,
        }
    }

    #[test]
    fn rows_hold_sources_with_multiplicity() {
        let rows = InNeighbours::new(&graph(4, &[[3, 1], [0, 1], [3, 1], [1, 1], [2, 0]]));
        assert_eq!(rows.offsets, [0, 1, 5, 5, 5]);
        assert_eq!(rows.sources, [2, 0, 1, 3, 3]);
        assert_eq!(rows.degree(1), 4);
        assert_eq!(rows.vertices(), 4);
    }

    #[test]
    fn a_cycle_is_even() {
        let list = graph(4, &[[0, 1], [1, 2], [2, 3], [3, 0]]);
        let ranks = PageRank::new(4).run(&InNeighbours::new(&list), &list.out_degrees(), 20);
        assert!(
            ranks.iter().all(|rank| (rank - 0.25).abs() < 1e-12),
            "{ranks:?}"
        );
    }

    /// Worked by hand: 0 -> 1, 1 is dangling. Start 1/2, 1/2.
    /// One iteration: base = (0.15 + 0.85 * 0.5) / 2 = 0.2875; rank 1 = 0.2875 + 0.85 * 0.5 = 0.7125.
    #[test]
    fn dangling_rank_is_spread() {
        let list = graph(2, &[[0, 1]]);
        let rows = InNeighbours::new(&list);
        let ranks = PageRank::new(2).run(&rows, &list.out_degrees(), 1);
        assert!((ranks[0] - 0.2875).abs() < 1e-12, "{ranks:?}");
        assert!((ranks[1] - 0.7125).abs() < 1e-12, "{ranks:?}");
    }

    #[test]
    fn ranks_sum_to_one() {
        let list = crate::graph::generate::Rmat {
            scale: 9,
            edge_factor: 4,
            seed: 3,
        }
        .generate();
        let ranks = PageRank::new(512).run(&InNeighbours::new(&list), &list.out_degrees(), 20);
        let sum: f64 = ranks.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
}
