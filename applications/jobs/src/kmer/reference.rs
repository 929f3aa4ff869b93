//! The k-mers as the CPU counts them.

use super::sequences::Sequences;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

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
    let mask = (1u64 << (2 * k)) - 1;
    let (mut forward, mut backward, mut run) = (0, 0, 0);
    for at in 0..sequences.len {
        let base = u64::from(sequences.base(at));
        if sequences.follows_break(at) {
            run = 0;
        }
        run += 1;
        forward = (forward << 2 | base) & mask;
        backward = backward >> 2 | (3 - base) << (2 * (k - 1));
        if run >= k {
            let kmer = match canonical {
                true => forward.min(backward),
                false => forward,
            };
            *of.entry(kmer).or_insert(0) += 1;
            total += 1;
        }
    }
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

    /// The `count` most frequent ones with how often they come, equal ones in the order of the alphabet.
    pub fn top(&self, count: usize) -> Vec<(u64, u32)> {
        let mut order: Vec<(u64, u32)> = self.of.iter().map(|(&k, &n)| (k, n)).collect();
        if count < order.len() {
            order.select_nth_unstable_by(count, by_frequency);
            order.truncate(count);
        }
        order.sort_unstable_by(by_frequency);
        order
    }

    /// How many k-mers come once, twice, and so on; frequencies of no k-mer are left out.
    pub fn spectrum(&self) -> Vec<(u32, u64)> {
        let mut spectrum = BTreeMap::new();
        for &count in self.of.values() {
            *spectrum.entry(count).or_insert(0) += 1;
        }
        spectrum.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sequences::{letters, tests::of};
    use super::*;

    fn counted(text: &str, k: u32, canonical: bool) -> Vec<(String, u32)> {
        let top = count(&of(text), k, canonical).top(usize::MAX);
        top.into_iter()
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
        let counts = count(&of("AAAACC"), 1, false);
        assert_eq!(counts.spectrum(), [(2, 1), (4, 1)]);
        assert_eq!((counts.total, counts.distinct()), (6, 2));
    }
}
