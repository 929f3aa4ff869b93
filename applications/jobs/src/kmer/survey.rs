//! How many k-mers there are, and about how many different ones, without counting each.

use super::sequences::Sequences;
use crate::ranks::owner::mixed;
use crate::threads::in_parts;
use std::collections::HashSet;

/// Places of a part that is worth a thread.
const LEAST: u32 = 1 << 16;
/// One k-mer of so many is looked at, as a power of two, where there are more than [`FEW`] places.
const SAMPLE_BITS: u32 = 6;
/// So many k-mers are looked at all.
const FEW: u32 = 1 << 18;

/// What is known before any k-mer is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    /// All k-mers.
    pub total: u64,
    /// Different ones, about: a few more than those whose hashes say that they are looked at, times the share of these.
    pub distinct: u64,
}

/// Looks through the sequences; `canonical` if a k-mer stands for its reverse complement, too.
pub fn survey(sequences: &Sequences, k: u32, canonical: bool) -> Survey {
    let places = sequences.places(k);
    let bits = if places > FEW { SAMPLE_BITS } else { 0 };
    let parts = in_parts(places, LEAST, |places| {
        let (mut total, mut sample) = (0u64, HashSet::new());
        sequences.kmers(k, canonical, places, |kmer| {
            total += 1;
            if mixed(kmer + 1) & ((1 << bits) - 1) == 0 {
                sample.insert(kmer);
            }
        });
        (total, sample)
    });
    let mut all = Survey {
        total: 0,
        distinct: 0,
    };
    let mut sample = HashSet::new();
    for (total, some) in parts {
        all.total += total;
        sample.extend(some);
    }
    let looked_at = sample.len() as u64;
    let few_more = if bits == 0 { 0 } else { looked_at / 32 + 32 };
    all.distinct = ((looked_at + few_more) << bits).min(all.total);
    all
}

#[cfg(test)]
mod tests {
    use super::super::{generate, reference};
    use super::*;

    #[test]
    fn totals_are_exact_and_different_ones_nearly() {
        for (bases, k, canonical) in [(1000, 5, true), (200, 31, false), (600_000, 21, true)] {
            let reads = generate::reads(bases, 3);
            let counts = reference::count(&reads, k, canonical);
            let survey = survey(&reads, k, canonical);
            assert_eq!(survey.total, counts.total);
            let distinct = counts.distinct();
            let most = if reads.places(k) > FEW {
                distinct * 12 / 10
            } else {
                distinct
            };
            assert!(
                (distinct..=most).contains(&survey.distinct),
                "{survey:?} for {distinct}"
            );
        }
    }
}
