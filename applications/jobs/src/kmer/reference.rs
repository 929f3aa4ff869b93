//! The k-mers as the CPU counts them.

use super::report::Found;
use super::sequences::Sequences;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// Counts below this are counted in a vector.
const SMALL: usize = 1 << 12;

/// How often each k-mer comes.
#[derive(Debug)]
pub struct Counts {
    /// Bases of a k-mer.
    pub k: u32,
    /// How often each comes: the last base in the lowest bits.
    pub of: HashMap<u64, u32>,
    /// All together.
    pub total: u64,
}

/// Counts the k-mers; `canonical` if a k-mer stands for its reverse complement, too.
pub fn count(sequences: &Sequences, k: u32, canonical: bool) -> Counts {
    let mut of = HashMap::new();
    let mut total = 0;
    sequences.kmers(k, canonical, 0..sequences.places(k), |kmer| {
        *of.entry(kmer).or_insert(0) += 1;
        total += 1;
    });
    Counts { k, of, total }
}

/// The order of k-mers by how often they come, the most frequent first, equal ones in the order of the alphabet.
pub fn by_frequency(a: &(u64, u32), b: &(u64, u32)) -> Ordering {
    b.1.cmp(&a.1).then(a.0.cmp(&b.0))
}

impl Counts {
    /// Number of different k-mers.
    pub fn distinct(&self) -> u64 {
        self.of.len() as u64
    }

    /// What is reported of them, with the `top` most frequent ones.
    pub fn found(&self, top: usize) -> Found {
        found(self.of.iter().map(|(&k, &n)| (k, n)).collect(), top)
    }
}

/// What is reported of k-mers, each of which is there once, with how often it comes; with the `top` most frequent ones.
pub fn found(mut counts: Vec<(u64, u32)>, top: usize) -> Found {
    let (mut total, distinct) = (0, counts.len() as u64);
    // Nearly all counts are small, and a place in a vector is soon found.
    let (mut small, mut large) = (vec![0; SMALL], BTreeMap::new());
    for &(_, count) in &counts {
        total += u64::from(count);
        match small.get_mut(count as usize) {
            Some(kmers) => *kmers += 1,
            None => *large.entry(count).or_insert(0) += 1,
        }
    }
    let spectrum = (0..).zip(small).filter(|&(_, kmers)| kmers > 0);
    let spectrum = spectrum.chain(large).collect();
    if top < counts.len() {
        counts.select_nth_unstable_by(top, by_frequency);
        counts.truncate(top);
    }
    counts.sort_unstable_by(by_frequency);
    Found {
        total,
        distinct,
        top: counts,
        spectrum,
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
        let often = found(vec![(1, 1 << 20), (2, 7), (3, 1 << 20)], 2);
        assert_eq!(often.spectrum, [(7, 1), (1 << 20, 2)]);
        assert_eq!(often.top, [(1, 1 << 20), (3, 1 << 20)]);
    }
}
