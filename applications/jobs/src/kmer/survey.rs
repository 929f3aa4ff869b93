//! How many k-mers there are, and about how many different ones, without counting each.

use super::sequences::Sequences;
use crate::ranks::owner::mixed;
use crate::threads::{concat, in_parts, sorted};

/// Places of a part that is worth a thread.
const LEAST: u32 = 1 << 16;
/// One k-mer of so many is looked at, as a power of two, where there are more than [`FEW`] places.
const SAMPLE_BITS: u32 = 6;
/// No more k-mers than two to this power are looked at, or twice as many.
const MOST_BITS: u32 = 22;
/// So many k-mers are looked at all.
const FEW: u64 = 1 << 18;

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
    let bits = bits(sequences.places(k).into());
    let (total, sample) = sample(sequences, k, canonical, bits);
    Survey::of_sample(total, sample.len() as u64, bits)
}

/// One of how many k-mers is looked at where there are so many places, as a power of two.
pub fn bits(places: u64) -> u32 {
    match places > FEW {
        true => places.ilog2().saturating_sub(MOST_BITS).max(SAMPLE_BITS),
        false => 0,
    }
}

/// The number of k-mers, and those whose hashes end with so many zeros, each once.
pub fn sample(sequences: &Sequences, k: u32, canonical: bool, bits: u32) -> (u64, Vec<u64>) {
    let parts = in_parts(sequences.places(k), LEAST, |places| {
        let (mut total, mut sample) = (0u64, Vec::new());
        sequences.kmers(k, canonical, places, |kmer| {
            total += 1;
            if mixed(kmer + 1) & ((1 << bits) - 1) == 0 {
                sample.push(kmer);
            }
        });
        (total, sample)
    });
    let (totals, samples): (Vec<u64>, Vec<_>) = parts.into_iter().unzip();
    let mut sample = sorted(&concat(samples));
    sample.dedup();
    (totals.iter().sum(), sample)
}

impl Survey {
    /// Of so many k-mers, with so many different ones in the sample.
    pub fn of_sample(total: u64, different: u64, bits: u32) -> Self {
        let few_more = if bits == 0 { 0 } else { different / 32 + 32 };
        let distinct = ((different + few_more) << bits).min(total);
        Survey { total, distinct }
    }
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
            let most = if bits(reads.places(k).into()) > 0 {
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
