//! Which vertices belong to which rank: one range of them each, so that what all ranks find lies in the order of the vertices.

use crate::error::JobError;
use crate::threads::in_parts;
use std::ops::Range;
use warpheap_dist::{Op, World};

/// Ranges of vertices whose edges are counted, at most: borders lie between them.
const BINS: u32 = 1 << 16;
/// Edges that are worth a thread.
const LEAST: u32 = 1 << 18;

/// The vertices of all ranks.
pub struct Borders {
    /// Where the vertices of each rank begin, and the last ones end.
    begins: Vec<u32>,
    /// How far the number of a vertex is shifted for that of its bin.
    shift: u32,
    /// The rank of each bin.
    owners: Vec<u32>,
    /// Edges that this rank has for each.
    pub mine: Vec<u64>,
}

impl Borders {
    /// Ranges with about as many vertices and edges that enter them, together, for each rank. These are the edges that this rank read. A
    /// call of all ranks.
    ///
    /// # Errors
    /// As [`World::reduce`].
    pub fn new(world: &World, edges: &[[u32; 2]], vertices: u32) -> Result<Self, JobError> {
        let shift = shift(vertices);
        let mine = counted(edges, vertices, shift);
        let mut all = mine.clone();
        world.reduce(Op::Sum, &mut all)?;
        Ok(Self::cut(&mine, all, vertices, world.size()))
    }

    /// The same of edges that are counted: those of this rank and those of all, in each bin.
    fn cut(mine: &[u64], mut all: Vec<u64>, vertices: u32, ranks: usize) -> Self {
        let shift = shift(vertices);
        let bin = |number: usize| (number as u64) << shift;
        let end = |number: usize| bin(number + 1).min(vertices.into());
        for (number, weight) in all.iter_mut().enumerate() {
            *weight += end(number) - bin(number);
        }
        let sum: u128 = all.iter().map(|weight| u128::from(*weight)).sum();
        let mut begins = vec![0];
        let mut owners = Vec::with_capacity(all.len());
        let mut counts = vec![0; ranks];
        let mut before = 0u128;
        for (number, weight) in all.iter().enumerate() {
            // A bin is that rank's in whose share its middle lies.
            let middle = 2 * before + u128::from(*weight);
            let owner = (middle * ranks as u128 / (2 * sum).max(1)) as usize;
            let owner = owner.min(ranks - 1);
            begins.resize(owner + 1, bin(number) as u32);
            owners.push(owner as u32);
            counts[owner] += mine[number];
            before += u128::from(*weight);
        }
        begins.resize(ranks + 1, vertices);
        Borders {
            begins,
            shift,
            owners,
            mine: counts,
        }
    }

    /// The vertices of a rank; there may be none.
    pub fn of(&self, rank: usize) -> Range<u32> {
        self.begins[rank]..self.begins[rank + 1]
    }

    /// The rank of a vertex.
    pub fn owner(&self, vertex: u32) -> usize {
        self.owners[(vertex >> self.shift) as usize] as usize
    }
}

/// How far the numbers of so many vertices are shifted for those of their bins.
fn shift(vertices: u32) -> u32 {
    let last = vertices.saturating_sub(1);
    (u32::BITS - last.leading_zeros()).saturating_sub(BINS.ilog2())
}

/// How many of these edges enter the vertices of each bin.
fn counted(edges: &[[u32; 2]], vertices: u32, shift: u32) -> Vec<u64> {
    let bins = (vertices.saturating_sub(1) >> shift) as usize + 1;
    let some = in_parts(edges.len() as u32, LEAST, |range| {
        let mut counts = vec![0u64; bins];
        for [_, target] in &edges[range.start as usize..range.end as usize] {
            counts[(target >> shift) as usize] += 1;
        }
        counts
    });
    let mut sums = vec![0; bins];
    for counts in some {
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::Rmat;

    /// The borders of a graph that one rank has read.
    fn borders(edges: &[[u32; 2]], vertices: u32, ranks: usize) -> Borders {
        let counts = counted(edges, vertices, shift(vertices));
        assert!(counts.len() <= BINS as usize, "{vertices} vertices");
        let borders = Borders::cut(&counts, counts.clone(), vertices, ranks);
        assert_eq!(borders.mine.iter().sum::<u64>(), edges.len() as u64);
        for rank in 0..ranks {
            let range = borders.of(rank);
            assert!(range.clone().all(|vertex| borders.owner(vertex) == rank));
            let enter = edges.iter().filter(|[_, target]| range.contains(target));
            assert_eq!(enter.count() as u64, borders.mine[rank]);
        }
        assert_eq!(
            (borders.of(0).start, borders.of(ranks - 1).end),
            (0, vertices)
        );
        borders
    }

    #[test]
    fn each_rank_has_its_share_of_edges_and_vertices() {
        for scale in [12, 18] {
            let graph = Rmat {
                scale,
                edge_factor: 8,
                seed: 1,
            }
            .generate();
            for ranks in [1, 2, 3, 7] {
                let borders = borders(&graph.edges, graph.vertices, ranks);
                let share = 9.0 * f64::from(graph.vertices) / ranks as f64;
                for rank in 0..ranks {
                    let work = borders.mine[rank] + borders.of(rank).len() as u64;
                    let of_share = work as f64 / share;
                    assert!(
                        (0.9..1.1).contains(&of_share),
                        "rank {rank} of {ranks}: {of_share}"
                    );
                }
            }
        }
    }

    #[test]
    fn ranks_may_have_no_vertex() {
        let edges = [[1, 0], [0, 2], [1, 2], [2, 2]];
        let borders = borders(&edges, 3, 8);
        let owned: u32 = (0..8).map(|rank| borders.of(rank).len() as u32).sum();
        assert_eq!(owned, 3);
        // One vertex has nearly all edges.
        let edges = vec![[0, 5]; 1000];
        let all = super::tests::borders(&edges, 10, 4);
        assert_eq!(all.mine.iter().filter(|edges| **edges > 0).count(), 1);
    }

    #[test]
    fn vertices_without_edges_are_work_too() {
        // Ten of a thousand have a hundred edges each: as much work as the thousand.
        let edges: Vec<[u32; 2]> = (0..1000).map(|edge| [edge, edge % 10]).collect();
        let first = borders(&edges, 1000, 2).of(0);
        assert!((9..=11).contains(&first.end), "{first:?}");
    }

    #[test]
    fn bins_are_never_too_many() {
        for (vertices, expected) in [
            (1, 0),
            (2, 0),
            (1 << 16, 0),
            ((1 << 16) + 1, 1),
            (u32::MAX, 16),
        ] {
            assert_eq!(shift(vertices), expected, "{vertices}");
        }
    }
}
