//! The k-mers as the CPU counts them.

use super::report::Found;
use super::sequences::Sequences;
use super::tally::Tally;
use crate::ranks::owner::{mixed, of_hash};
use crate::threads::{self, each};
use std::collections::HashMap;

/// Places that are worth a thread.
const LEAST: u32 = 1 << 16;

/// How often each k-mer comes.
#[derive(Debug)]
pub struct Counts {
    /// Bases of a k-mer.
    pub k: u32,
    /// How often each comes, the last base in the lowest bits: a share for each thread that counted, by the k-mer's hash.
    shares: Vec<HashMap<u64, u32>>,
    /// All together.
    pub total: u64,
}

/// Counts the k-mers; `canonical` if a k-mer stands for its reverse complement, too. Several threads look at all of them, and each counts
/// its share.
pub fn count(sequences: &Sequences, k: u32, canonical: bool) -> Counts {
    let places = sequences.places(k);
    let threads = (places / LEAST).clamp(1, threads::count() as u32) as usize;
    let shares = each((0..threads).collect(), |mine| {
        let mut of = HashMap::new();
        sequences.kmers(k, canonical, 0..places, |kmer| {
            if share(kmer, threads) == mine {
                *of.entry(kmer).or_insert(0) += 1;
            }
        });
        of
    });
    let all = shares.iter().flat_map(HashMap::values);
    let total = all.map(|count| u64::from(*count)).sum();
    Counts { k, shares, total }
}

/// Whose of so many threads a k-mer is.
fn share(kmer: u64, threads: usize) -> usize {
    of_hash(mixed(kmer), threads)
}

impl Counts {
    /// Number of different k-mers.
    pub fn distinct(&self) -> u64 {
        self.shares.iter().map(|share| share.len() as u64).sum()
    }

    /// How often a k-mer comes.
    pub fn of(&self, kmer: u64) -> u32 {
        let share = &self.shares[share(kmer, self.shares.len())];
        share.get(&kmer).copied().unwrap_or(0)
    }

    /// What is reported of them, with the `top` most frequent ones.
    pub fn found(&self, top: usize) -> Found {
        let shares = self.shares.iter().collect();
        let found = each(shares, |share: &HashMap<u64, u32>| {
            Tally::of(share.iter().map(|(&kmer, &count)| (kmer, count)), top)
        });
        Tally::together(found, top)
    }

    /// All of them.
    #[cfg(test)]
    pub fn all(self) -> HashMap<u64, u32> {
        self.shares.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sequences::{letters, tests::of};
    use super::*;

    fn counted(text: &str, k: u32, canonical: bool) -> Vec<(String, u32)> {
        let found = count(&of(text), k, canonical).found(usize::MAX);
        found
            .top
            .into_iter()
            .map(|(kmer, n)| (letters(kmer, k), n))
            .collect()
    }

    #[test]
    fn counts_within_sequences() {
        let named = |list: &[(&str, u32)]| -> Vec<(String, u32)> {
            list.iter().map(|&(kmer, n)| (kmer.to_owned(), n)).collect()
        };
        let plain = named(&[("ACG", 2), ("CGT", 1)]);
        assert_eq!(counted("ACGTNNAC|ACG|GT", 3, false), plain);
        // CGT is the reverse complement of ACG.
        assert_eq!(counted("ACGTNNAC|ACG|GT", 3, true), named(&[("ACG", 3)]));
        assert_eq!(counted("AC|GT", 3, false), []);
        assert_eq!(counted("TTTT", 1, true), named(&[("A", 4)]));
    }

    #[test]
    fn the_spectrum_counts_counts() {
        let counts = count(&of("AAAACC"), 1, false).found(1);
        assert_eq!(counts.spectrum, [(2, 1), (4, 1)]);
        assert_eq!((counts.total, counts.distinct), (6, 2));
        assert_eq!(counts.top, [(0, 4)]);
    }

    #[test]
    fn threads_do_not_matter() {
        let reads = crate::kmer::generate::reads(3 * LEAST, 3);
        let counts = count(&reads, 11, true);
        let mut all = HashMap::new();
        reads.kmers(11, true, 0..reads.places(11), |kmer| {
            *all.entry(kmer).or_insert(0) += 1;
        });
        assert_eq!(
            counts.total,
            all.values().map(|count| u64::from(*count)).sum::<u64>()
        );
        assert_eq!(counts.distinct(), all.len() as u64);
        assert!(all.iter().all(|(&kmer, &count)| counts.of(kmer) == count));
        assert_eq!(counts.of(u64::MAX), 0);
    }
}
