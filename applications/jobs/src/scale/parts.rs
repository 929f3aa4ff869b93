//! The shares of k-mers, rows and edges, cut as the jobs cut them.

use super::Shares;
use crate::graph::generate::Rmat;
use crate::kmer::Sequences;
use crate::kmer::ranks::owners::Cutter;
use crate::ranks::border;
use crate::ranks::owner::{mixed, of_hash};
use warpheap_applications::cut::part_of;

/// Bytes of a row of a join.
const ROW_BYTES: u64 = 8;
/// Bytes of a vertex's number with what it contributes.
const VALUE_BYTES: u64 = 8;

/// K-mers by their minimizers, as `warpheap kmer` shares them out: each rank cuts an equal part of the sequences.
pub fn kmers(sequences: &Sequences, k: u32, ranks: usize) -> Shares {
    let cutter = Cutter::new(k, ranks);
    let places = u64::from(sequences.places(k));
    let mut shares = Shares::of(ranks);
    for from in 0..ranks {
        let border = |part| border(places, part, ranks) as u32;
        let pieces = cutter.pieces(sequences, border(from)..border(from + 1));
        for (to, pieces) in pieces.iter().enumerate() {
            let kmers = pieces.iter().map(|piece| u64::from(piece.kmers()));
            shares.work[to] += kmers.sum::<u64>();
            shares.send(from, to, size_of_val(&pieces[..]) as u64);
        }
    }
    shares
}

/// Rows by the hashes of their keys, as `warpheap join` shares them out: each rank reads an equal part of them.
pub fn rows(keys: &[u32], ranks: usize) -> Shares {
    let mut shares = Shares::of(ranks);
    for from in 0..ranks {
        let border = |part| border(keys.len() as u64, part, ranks) as usize;
        for key in &keys[border(from)..border(from + 1)] {
            let to = part_of(*key, ranks as u32) as usize;
            shares.work[to] += 1;
            shares.send(from, to, ROW_BYTES);
        }
    }
    shares
}

/// How edges are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// To the rank of their source, by a hash of it.
    ByVertex,
    /// By a hash of their number: equally many to each rank, and the edges of a vertex to many.
    ByEdge,
}

/// Edges of a graph, and what an iteration of PageRank sends. A vertex belongs to the rank of its hash, which adds up what it gets.
/// A rank adds up before it sends: one value for each of its targets. If edges lie by their number, it needs the rank of each of its
/// sources besides, which it gets from the vertex's rank.
pub fn edges(graph: &Rmat, how: Edges, ranks: usize) -> Shares {
    let graph = graph.generate();
    let owner = |vertex: u32| of_hash(mixed(u64::from(vertex) + 1), ranks);
    let mut shares = Shares::of(ranks);
    let mut of_rank = vec![Vec::new(); ranks];
    for (number, edge) in (0u64..).zip(&graph.edges) {
        let rank = match how {
            Edges::ByVertex => owner(edge[0]),
            Edges::ByEdge => of_hash(mixed(!number), ranks),
        };
        of_rank[rank].push(*edge);
    }
    // The rank that has met a vertex last.
    let mut met = vec![[usize::MAX; 2]; graph.vertices as usize];
    for (rank, edges) in of_rank.iter().enumerate() {
        shares.work[rank] = edges.len() as u64;
        for &[source, target] in edges {
            let first = |met: &mut usize| std::mem::replace(met, rank) != rank;
            if first(&mut met[target as usize][1]) {
                shares.send(rank, owner(target), VALUE_BYTES);
            }
            if first(&mut met[source as usize][0]) {
                shares.send(owner(source), rank, VALUE_BYTES);
            }
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::super::inputs::{self, Reads};
    use super::*;
    use crate::kmer::reference;

    const RANKS: [usize; 4] = [1, 3, 16, 512];

    /// All work is done once; one rank has all of it and sends nothing.
    fn conserves(all: u64, shares: impl Fn(usize) -> Shares) {
        for ranks in RANKS {
            let shares = shares(ranks);
            assert_eq!((shares.work.len(), shares.all()), (ranks, all), "{ranks}");
            let sum = |bytes: &[u64]| bytes.iter().sum::<u64>();
            assert_eq!(sum(&shares.sent), sum(&shares.received), "{ranks} ranks");
            match ranks {
                1 => assert_eq!((shares.balance(), sum(&shares.sent)), (1.0, 0)),
                _ => assert!(shares.balance() > 1.0 && sum(&shares.sent) > 0),
            }
        }
    }

    #[test]
    fn each_kmer_row_and_edge_is_one_ranks() {
        for reads in [Reads::Genome, Reads::Abundances, Reads::Repeats] {
            let sequences = reads.sequences(40_000);
            let all = reference::count(&sequences, 31, false).total;
            conserves(all, |ranks| kmers(&sequences, 31, ranks));
        }
        for skewed in [false, true] {
            let keys = inputs::keys(20_000, skewed);
            conserves(20_000, |ranks| rows(&keys, ranks));
        }
        let graph = Rmat {
            scale: 11,
            edge_factor: 16,
            seed: 1,
        };
        for how in [Edges::ByVertex, Edges::ByEdge] {
            conserves(16 << 11, |ranks| edges(&graph, how, ranks));
        }
    }

    #[test]
    fn skew_shows() {
        let balance = |skewed| rows(&inputs::keys(100_000, skewed), 64).balance();
        assert!(balance(false) < 1.1 && balance(true) > 4.0);
        let graph = Rmat {
            scale: 12,
            edge_factor: 16,
            seed: 1,
        };
        let shares = |how| edges(&graph, how, 64);
        let (vertex, edge) = (shares(Edges::ByVertex), shares(Edges::ByEdge));
        assert!(vertex.balance() > 1.3 && edge.balance() < 1.2);
        assert!(vertex.bytes_each() < edge.bytes_each());
    }
}
