//! Which rank counts a k-mer, and sequences cut at the places where that changes.
//!
//! A k-mer belongs to the rank that its minimizer names: of the shorter words in it, each taken as the lesser of itself and its
//! reverse complement, the one with the least hash. Neighbours mostly share it, so that they travel as one piece of sequence; and a
//! k-mer and its reverse complement have the same, so that they come to one rank.

use crate::kmer::sequences::{Builder, Sequences};
use crate::ranks::owner::{self, mixed};
use std::collections::VecDeque;
use std::ops::Range;

/// The longest minimizer.
const LONGEST: u32 = 15;

/// Cuts sequences into pieces whose k-mers belong to one rank each.
pub struct Cutter {
    k: u32,
    /// Bases of a minimizer.
    m: u32,
    ranks: usize,
}

impl Cutter {
    /// For k-mers of `k` bases, 1 to 31, and so many ranks.
    pub fn new(k: u32, ranks: usize) -> Self {
        let m = k.div_ceil(2).min(LONGEST);
        Cutter { k, m, ranks }
    }

    /// The pieces with the k-mers that begin at these places, for each rank; and how many k-mers they are.
    pub fn pieces(&self, sequences: &Sequences, places: Range<u32>) -> (Vec<Builder>, u64) {
        let mut out: Vec<Builder> = (0..self.ranks).map(|_| Builder::default()).collect();
        let mut kmers = 0;
        // The rank whose piece the last base was put into, if the k-mer at the next place may go on with it.
        let mut open = None;
        let mut window = Window::new(self.m, self.k);
        // The last k-mer ends so far behind its place.
        let end = places.end.saturating_add(self.k - 1).min(sequences.len);
        for at in places.start..end {
            if sequences.follows_break(at) {
                window = Window::new(self.m, self.k);
                open = None;
            }
            let Some(minimizer) = window.push(sequences.base(at)) else {
                continue;
            };
            kmers += 1;
            let rank = rank(minimizer, self.ranks);
            let piece = &mut out[rank];
            if open == Some(rank) {
                piece.push(sequences.base(at));
            } else {
                piece.begin();
                for inside in at + 1 - self.k..=at {
                    piece.push(sequences.base(inside));
                }
                open = Some(rank);
            }
        }
        (out, kmers)
    }
}

/// The rank that a minimizer names.
fn rank(minimizer: u64, ranks: usize) -> usize {
    // Once more, because the least of several hashes is small.
    owner::of_hash(mixed(!minimizer), ranks)
}

/// The last bases that were read, and the least hash in them.
struct Window {
    m: u32,
    k: u32,
    forward: u64,
    backward: u64,
    /// Bases since the break.
    read: u64,
    /// The hashes that are the least from their place on, with the number of bases up to there.
    least: VecDeque<(u64, u64)>,
}

impl Window {
    fn new(m: u32, k: u32) -> Self {
        Window {
            m,
            k,
            forward: 0,
            backward: 0,
            read: 0,
            least: VecDeque::new(),
        }
    }

    /// Takes the next base; the minimizer's hash, if there is a k-mer that ends here.
    fn push(&mut self, base: u32) -> Option<u64> {
        let (m, base) = (self.m, u64::from(base));
        self.forward = (self.forward << 2 | base) & ((1 << (2 * m)) - 1);
        self.backward = self.backward >> 2 | (3 - base) << (2 * (m - 1));
        self.read += 1;
        if self.read < m.into() {
            return None;
        }
        let hash = mixed(self.forward.min(self.backward) + 1);
        while self.least.back().is_some_and(|&(_, other)| other >= hash) {
            self.least.pop_back();
        }
        self.least.push_back((self.read, hash));
        let k = u64::from(self.k);
        if self.read < k {
            return None;
        }
        // Of the words in the k-mer the first ends so many bases after its begin.
        let first = self.read - k + u64::from(m);
        while self.least.front().is_some_and(|&(end, _)| end < first) {
            self.least.pop_front();
        }
        self.least.front().map(|&(_, hash)| hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmer::{generate, reference};
    use std::collections::HashMap;

    /// How often each k-mer comes in the pieces of all ranks, cut so many places at a time; each must be on one rank.
    fn counted(
        sequences: &Sequences,
        k: u32,
        canonical: bool,
        ranks: usize,
        step: u32,
    ) -> (HashMap<u64, u32>, Vec<u64>) {
        let cutter = Cutter::new(k, ranks);
        let mut all = HashMap::new();
        let mut owners = HashMap::new();
        let mut shares = vec![0; ranks];
        let mut first = 0;
        while first < sequences.places(k) {
            let end = sequences.places(k).min(first + step);
            let (pieces, kmers) = cutter.pieces(sequences, first..end);
            let mut sum = 0;
            for (rank, piece) in pieces.into_iter().enumerate() {
                let counts = reference::count(&piece.finish(), k, canonical);
                sum += counts.total;
                shares[rank] += counts.total;
                for (kmer, count) in counts.of {
                    *all.entry(kmer).or_insert(0) += count;
                    assert_eq!(*owners.entry(kmer).or_insert(rank), rank, "k {k}");
                }
            }
            assert_eq!(sum, kmers);
            first = end;
        }
        (all, shares)
    }

    #[test]
    fn pieces_have_all_kmers_and_each_on_one_rank() {
        let sequences = generate::reads(6000, 3);
        for k in [1, 2, 3, 15, 16, 21, 31] {
            for (canonical, ranks, step) in [(false, 3, 6000), (true, 4, 701), (true, 1, 1000)] {
                let (counts, _) = counted(&sequences, k, canonical, ranks, step);
                let expected = reference::count(&sequences, k, canonical).of;
                assert_eq!(counts, expected, "k {k}, {ranks} ranks");
            }
        }
    }

    #[test]
    fn ranks_have_equal_shares_and_neighbours_travel_together() {
        let sequences = generate::reads(200_000, 5);
        let (_, shares) = counted(&sequences, 21, true, 4, u32::MAX);
        let all: u64 = shares.iter().sum();
        let most = shares.iter().max().copied().unwrap_or_default();
        assert!(most * 4 < all * 5 / 4, "{shares:?}");
        let (pieces, kmers) = Cutter::new(21, 4).pieces(&sequences, 0..sequences.places(21));
        let bases: u64 = pieces.iter().map(|piece| u64::from(piece.len())).sum();
        // Three bits a base, where a k-mer alone takes 64.
        assert!(3 * bases < 16 * kmers, "{bases} bases for {kmers} k-mers");
    }
}
