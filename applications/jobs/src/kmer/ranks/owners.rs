//! Sequences cut at the places where the rank that counts the k-mers changes: what the device does, without a device. What is
//! cut there is held against this, and it tells of ranks that nobody has.

use super::pieces::packed;
use crate::kmer::Sequences;
use std::collections::VecDeque;
use std::ops::Range;
use warpheap_applications::minimizer::{minimizer_len, part_of, word_hash};
use warpheap_applications::supermer::{MOST_BASES, Supermer};

/// Cuts sequences into pieces whose k-mers belong to one rank each.
pub struct Cutter {
    k: u32,
    ranks: usize,
}

impl Cutter {
    /// For k-mers of `k` bases, 1 to 31, and so many ranks.
    pub fn new(k: u32, ranks: usize) -> Self {
        Cutter { k, ranks }
    }

    /// The pieces with the k-mers that begin at these places, for each rank.
    pub fn pieces(&self, sequences: &Sequences, places: Range<u32>) -> Vec<Vec<Supermer>> {
        let mut out = vec![Vec::new(); self.ranks];
        let most = MOST_BASES + 1 - self.k;
        // The last piece: where it begins, its k-mers, and its rank.
        let mut open: Option<(u32, u32, usize)> = None;
        let mut put = |piece: Option<(u32, u32, usize)>| {
            if let Some((begin, kmers, rank)) = piece {
                let bases = begin..begin + kmers + self.k - 1;
                out[rank].push(packed(bases.map(|at| sequences.base(at)), kmers));
            }
        };
        let mut window = Window::new(self.k);
        // The last k-mer ends so far behind its place.
        let end = places.end.saturating_add(self.k - 1).min(sequences.len);
        for at in places.start..end {
            if sequences.follows_break(at) {
                window = Window::new(self.k);
                // No k-mer of one base goes across a break, wherever a piece is cut.
                if self.k > 1 {
                    put(open.take());
                }
            }
            let Some(minimizer) = window.push(sequences.base(at)) else {
                continue;
            };
            let rank = part_of(minimizer, self.ranks as u32) as usize;
            match &mut open {
                Some((_, kmers, same)) if *same == rank && *kmers < most => *kmers += 1,
                _ => put(open.replace((at + 1 - self.k, 1, rank))),
            }
        }
        put(open);
        out
    }
}

/// The last bases that were read, and the least hash in them.
struct Window {
    m: u32,
    k: u32,
    forward: u32,
    backward: u32,
    /// Bases since the break.
    read: u32,
    /// The hashes that are the least from their place on, with the number of bases up to there.
    least: VecDeque<(u32, u32)>,
}

impl Window {
    fn new(k: u32) -> Self {
        Window {
            m: minimizer_len(k),
            k,
            forward: 0,
            backward: 0,
            read: 0,
            least: VecDeque::new(),
        }
    }

    /// Takes the next base; the minimizer's hash, if there is a k-mer that ends here.
    fn push(&mut self, base: u32) -> Option<u32> {
        let m = self.m;
        self.forward = (self.forward << 2 | base) & ((1 << (2 * m)) - 1);
        self.backward = self.backward >> 2 | (3 - base) << (2 * (m - 1));
        self.read += 1;
        if self.read < m {
            return None;
        }
        let hash = word_hash(self.forward.min(self.backward));
        while self.least.back().is_some_and(|&(_, other)| other >= hash) {
            self.least.pop_back();
        }
        self.least.push_back((self.read, hash));
        if self.read < self.k {
            return None;
        }
        // Of the words in the k-mer the first ends so many bases after its begin.
        let first = self.read - self.k + m;
        while self.least.front().is_some_and(|&(end, _)| end < first) {
            self.least.pop_front();
        }
        self.least.front().map(|&(_, hash)| hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmer::ranks::pieces::append;
    use crate::kmer::sequences::Builder;
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
            let pieces = cutter.pieces(sequences, first..end);
            for (rank, pieces) in pieces.into_iter().enumerate() {
                let mut sequence = Builder::default();
                let mut kmers = 0;
                for piece in pieces {
                    kmers += u64::from(piece.kmers());
                    append(&mut sequence, piece, k).unwrap();
                }
                let counts = reference::count(&sequence.finish(), k, canonical);
                assert_eq!(counts.total, kmers);
                shares[rank] += kmers;
                for (kmer, count) in counts.all() {
                    *all.entry(kmer).or_insert(0) += count;
                    assert_eq!(*owners.entry(kmer).or_insert(rank), rank, "k {k}");
                }
            }
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
                let expected = reference::count(&sequences, k, canonical).all();
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
        let pieces = Cutter::new(21, 4).pieces(&sequences, 0..sequences.places(21));
        let number: u64 = pieces.iter().map(|pieces| pieces.len() as u64).sum();
        // A piece takes 16 bytes, and a k-mer alone 8.
        assert!(
            3 * 16 * number < 8 * all,
            "{number} pieces for {all} k-mers"
        );
    }
}
