//! Sequences in parts, one for each device, and what comes of the parts together.
//!
//! A part is a range of the places at which k-mers begin. So every k-mer that comes is counted by one device, whichever sequence it is
//! in: parts are equally large also where the sequences are not, and how often a k-mer comes altogether is the sum of how often it
//! comes in each part. Ranges of hashes would need no sum, but every device would read every sequence.

use super::sequences::{Sequences, letters};
use std::cmp::Ordering;
use std::ops::Range;
use warpheap_applications::kmer::Kmer;

/// Places whose breaks are in one word, at a multiple of which a part begins.
pub const ALIGN: u32 = 32;

/// A part of sequences, as the kernel reads it: the first place is number 0.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// As [`Sequences::bases`].
    pub bases: &'a [u32],
    /// As [`Sequences::breaks`].
    pub breaks: &'a [u32],
    /// Places at which k-mers may begin.
    pub places: u32,
}

impl Sequences {
    /// The places at which k-mers may begin, in so many ranges that are about equally long. Those that would be empty are left out.
    pub fn ranges(&self, k: u32, parts: usize) -> Vec<Range<u32>> {
        let places = self.places(k);
        let parts = u32::try_from(parts).unwrap_or(u32::MAX).max(1);
        let each = places.div_ceil(parts).next_multiple_of(ALIGN);
        let begins = (0..places).step_by(each.max(1) as usize);
        begins
            .map(|begin| begin..begin.saturating_add(each).min(places))
            .collect()
    }

    /// What is read of k-mers that begin in a range, which begins at a multiple of 32 places.
    pub fn part(&self, range: &Range<u32>) -> Part<'_> {
        let words = |all: &'_ [u32], begin: u32, end: u32| {
            // Kernels look at the word of the last place and at three more.
            begin as usize..(end as usize + 4).min(all.len())
        };
        let last = range.end.saturating_sub(1);
        Part {
            bases: &self.bases[words(&self.bases, range.start / 16, last / 16)],
            breaks: &self.breaks[words(&self.breaks, range.start / 32, last / 32)],
            places: range.len() as u32,
        }
    }
}

/// Puts what a map held in order, with each k-mer once.
///
/// # Errors
/// A k-mer that it held twice.
pub fn sorted(pairs: &mut [(Kmer, u32)], k: u32) -> Result<(), String> {
    pairs.sort_unstable_by_key(|(kmer, _)| *kmer);
    match pairs.windows(2).find(|two| two[0].0 == two[1].0) {
        None => Ok(()),
        Some(two) => {
            let kmer = u64::from(two[0].0.high) << 32 | u64::from(two[0].0.low);
            Err(format!("{} is in one map twice", letters(kmer, k)))
        }
    }
}

/// The sums of counts, of lists that are [`sorted`].
pub fn merged(lists: Vec<Vec<(Kmer, u32)>>) -> Vec<(Kmer, u32)> {
    lists.into_iter().reduce(both).unwrap_or_default()
}

fn both(one: Vec<(Kmer, u32)>, other: Vec<(Kmer, u32)>) -> Vec<(Kmer, u32)> {
    let mut all = Vec::with_capacity(one.len().max(other.len()));
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    loop {
        let order = match (one.peek(), other.peek()) {
            (Some(left), Some(right)) => left.0.cmp(&right.0),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return all,
        };
        let left = one.next_if(|_| order.is_le());
        let right = other.next_if(|_| order.is_ge());
        if let Some((kmer, _)) = left.or(right) {
            // Places have 32-bit numbers: more than a count holds comes of a device that is wrong, which the check will say.
            let count = |pair: Option<(Kmer, u32)>| pair.map_or(0, |(_, count)| count);
            all.push((kmer, count(left).saturating_add(count(right))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::super::sequences::tests::of;
    use super::*;
    use std::collections::HashMap;

    /// What the CPU counts in a part.
    fn counted(part: &Part<'_>, k: u32) -> HashMap<u64, u32> {
        let alone = Sequences {
            bases: part.bases.to_vec(),
            breaks: part.breaks.to_vec(),
            len: part.places + k - 1,
            ..Sequences::default()
        };
        reference::count(&alone, k, true).all()
    }

    #[test]
    fn the_parts_have_every_kmer_once() {
        let text = "ACGTTGCATTNGACCA|TTGACAGGATC".repeat(17);
        let sequences = of(&text);
        for k in [1, 5, 21, 31] {
            for parts in [1, 2, 3, 8, 100] {
                let ranges = sequences.ranges(k, parts);
                assert!(ranges.len() <= parts && !ranges.is_empty());
                let mut sums = HashMap::new();
                for range in &ranges {
                    assert!(range.start % ALIGN == 0 && !range.is_empty(), "{range:?}");
                    for (kmer, count) in counted(&sequences.part(range), k) {
                        *sums.entry(kmer).or_insert(0) += count;
                    }
                }
                let whole = reference::count(&sequences, k, true).all();
                assert_eq!(sums, whole, "k {k}, {parts} parts");
            }
        }
        assert_eq!(of("ACG").ranges(4, 2), []);
    }

    #[test]
    fn the_words_that_the_kernel_looks_at_are_there() {
        let sequences = of(&"ACGGT".repeat(100));
        for range in sequences.ranges(1, 3) {
            let part = sequences.part(&range);
            let last = part.places as usize - 1;
            assert!(part.bases.len() > last / 16 + 2 && part.breaks.len() > (last + 1) / 32 + 1);
        }
    }

    #[test]
    fn counts_of_lists_are_added_up() {
        let pair = |low, count| (Kmer { high: 0, low }, count);
        let lists = vec![
            vec![pair(1, 2), pair(5, 1)],
            vec![pair(0, 1), pair(5, 3), pair(7, 1)],
            vec![pair(1, u32::MAX)],
        ];
        let sums = [pair(0, 1), pair(1, u32::MAX), pair(5, 4), pair(7, 1)];
        assert_eq!(merged(lists), sums);
        assert_eq!(merged(Vec::new()), []);
        let mut twice = [pair(2, 1), pair(1, 1), pair(2, 1)];
        assert_eq!(sorted(&mut twice, 2), Err("AG is in one map twice".into()));
        assert_eq!(sorted(&mut twice[..2], 2), Ok(()));
    }
}
