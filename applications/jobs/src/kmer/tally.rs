//! What is reported of k-mers that were counted: how many there are, how often they come, and the most frequent ones.

use super::report::Found;
use crate::threads::in_parts;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Counts below this are counted in a vector: nearly all are so small, and a place in a vector is soon found.
const SMALL: usize = 1 << 12;
/// K-mers that are worth a thread.
const LEAST: u32 = 1 << 16;
/// Candidates for the most frequent ones beyond those that there can be, before most of them are dropped.
const SPARE: usize = 1 << 12;

/// The order of k-mers by how often they come, the most frequent first, equal ones in the order of the alphabet.
pub fn by_frequency(a: &(u64, u32), b: &(u64, u32)) -> Ordering {
    b.1.cmp(&a.1).then(a.0.cmp(&b.0))
}

/// What is known of some of the k-mers.
pub struct Tally {
    total: u64,
    distinct: u64,
    /// How many k-mers come so often, by how often.
    small: Vec<u64>,
    large: BTreeMap<u32, u64>,
    /// Those that may be among the most frequent ones.
    top: Vec<(u64, u32)>,
}

/// What is reported of `all`, of which each is a k-mer that is there once, with how often it comes; with the `top` most frequent ones.
/// Several threads look.
pub fn found<T: Sync>(all: &[T], top: usize, counted: impl Fn(&T) -> (u64, u32) + Sync) -> Found {
    let parts = in_parts(all.len() as u32, LEAST, |range| {
        let some = &all[range.start as usize..range.end as usize];
        Tally::of(some.iter().map(&counted), top)
    });
    Tally::together(parts, top)
}

impl Tally {
    /// Of these k-mers, with how often each comes.
    pub fn of(counts: impl Iterator<Item = (u64, u32)>, top: usize) -> Self {
        let mut tally = Tally {
            total: 0,
            distinct: 0,
            small: vec![0; SMALL],
            large: BTreeMap::new(),
            top: Vec::new(),
        };
        let most = top.saturating_add(SPARE);
        // What comes less often is not among them.
        let mut least = 0;
        for (kmer, count) in counts {
            tally.total += u64::from(count);
            tally.distinct += 1;
            match tally.small.get_mut(count as usize) {
                Some(kmers) => *kmers += 1,
                None => *tally.large.entry(count).or_insert(0) += 1,
            }
            if count >= least {
                tally.top.push((kmer, count));
                if tally.top.len() >= most {
                    keep(&mut tally.top, top);
                    least = tally.top.last().map_or(u32::MAX, |least| least.1);
                }
            }
        }
        tally
    }

    /// What is reported of all parts.
    pub fn together(parts: Vec<Self>, top: usize) -> Found {
        let (mut total, mut distinct) = (0, 0);
        let (mut spectrum, mut all) = (BTreeMap::new(), Vec::new());
        for part in parts {
            total += part.total;
            distinct += part.distinct;
            let small = (0..).zip(part.small).filter(|&(_, kmers)| kmers > 0);
            for (count, kmers) in small.chain(part.large) {
                *spectrum.entry(count).or_insert(0) += kmers;
            }
            all.extend(part.top);
        }
        keep(&mut all, top);
        all.sort_unstable_by(by_frequency);
        Found {
            total,
            distinct,
            top: all,
            spectrum: spectrum.into_iter().collect(),
        }
    }
}

/// Keeps the `top` most frequent ones, the least frequent of them last.
fn keep(counts: &mut Vec<(u64, u32)>, top: usize) {
    if top < counts.len() {
        // The one behind those that stay is in its place, and so is the last of these.
        counts.select_nth_unstable_by(top, by_frequency);
        counts.truncate(top);
    }
    if let Some(last) = top.min(counts.len()).checked_sub(1) {
        counts.select_nth_unstable_by(last, by_frequency);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[(u64, u32)], top: usize) -> Found {
        found(all, top, |pair| *pair)
    }

    #[test]
    fn large_counts_are_counted_too() {
        let often = of(&[(1, 1 << 20), (2, 7), (3, 1 << 20)], 2);
        assert_eq!(often.spectrum, [(7, 1), (1 << 20, 2)]);
        assert_eq!(often.top, [(1, 1 << 20), (3, 1 << 20)]);
        assert_eq!((often.total, often.distinct), ((1 << 21) + 7, 3));
        let nothing = of(&[], 3);
        assert_eq!(
            (nothing.total, nothing.top, nothing.spectrum),
            (0, vec![], vec![])
        );
    }

    #[test]
    fn neither_threads_nor_dropped_candidates_matter() {
        let count = |kmer: u64| ((kmer * 2_654_435_761) >> 7) as u32 % 5000;
        let all: Vec<_> = (0..4 * u64::from(LEAST))
            .map(|kmer| (kmer, count(kmer)))
            .collect();
        let mut sorted = all.clone();
        sorted.sort_unstable_by(by_frequency);
        for top in [0, 1, 100, 2 * SPARE, all.len(), usize::MAX] {
            let found = of(&all, top);
            assert!(found.top == sorted[..top.min(all.len())], "{top}");
            assert_eq!(found.distinct, all.len() as u64);
            assert_eq!(
                found.total,
                all.iter().map(|pair| u64::from(pair.1)).sum::<u64>()
            );
            let kmers: u64 = found.spectrum.iter().map(|(_, kmers)| kmers).sum();
            assert_eq!(kmers, found.distinct);
            assert!(found.spectrum.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
