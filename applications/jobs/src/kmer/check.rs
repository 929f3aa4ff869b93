//! Whether a map held what it has to hold, and left nothing behind.

use super::reference::Counts;
use super::report::Found;
use super::run::Context;
use super::sequences::letters;
use super::tally::found;
use crate::threads::in_parts;
use warpheap::{HostAlloc, Pool};
use warpheap_applications::kmer::Kmer;

/// Pairs that are worth a thread.
const LEAST: u32 = 1 << 16;

/// What a map held, if it is as many k-mers as there are: all that is known of k-mers that the CPU has not counted.
pub fn counted_all(context: &Context<'_>, pairs: &[(Kmer, u32)]) -> Result<Found, String> {
    let found = found(pairs, context.top, |&(kmer, count)| (number(kmer), count));
    match (found.total, context.survey.total) {
        (got, total) if got != total => Err(format!("{got} k-mers were counted, not {total}")),
        _ => Ok(found),
    }
}

/// A k-mer with the last base in the lowest bits.
fn number(kmer: Kmer) -> u64 {
    u64::from(kmer.high) << 32 | u64::from(kmer.low)
}

/// Holds what was read from a map against what the CPU counted.
pub fn check(counts: &Counts, pairs: &[(Kmer, u32)]) -> Result<(), String> {
    let parts = in_parts(pairs.len() as u32, LEAST, |range| {
        let mut some = pairs[range.start as usize..range.end as usize].iter();
        some.find(|(kmer, got)| counts.of(number(*kmer)) != *got)
    });
    if let Some((kmer, got)) = parts.into_iter().flatten().next() {
        let key = number(*kmer);
        let (kmer, count) = (letters(key, counts.k), counts.of(key));
        return Err(format!("{kmer} was counted {got} times, not {count}"));
    }
    let (got, distinct) = (pairs.len() as u64, counts.distinct());
    if got != distinct {
        return Err(format!("{got} different k-mers, not {distinct}"));
    }
    Ok(())
}

/// Makes sure that all memory came back, where blocks can be freed.
pub fn check_empty<A: HostAlloc>(pool: &Pool<A>) -> Result<(), String> {
    let used = pool
        .stats()
        .map_err(|error| error.to_string())?
        .usage
        .used_bytes;
    if A::CAPS.frees && used != 0 {
        return Err(format!("{used} bytes are in use after the map was freed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::super::sequences::tests::of;
    use super::*;

    #[test]
    fn every_difference_is_found() {
        let counts = reference::count(&of("ACGA"), 2, false);
        let pair = |low, count| (Kmer { high: 0, low }, count);
        let right = [pair(0b0001, 1), pair(0b0110, 1), pair(0b1000, 1)];
        assert_eq!(check(&counts, &right), Ok(()));
        let differs = |pairs: &[(Kmer, u32)]| check(&counts, pairs).unwrap_err();
        assert_eq!(differs(&right[1..]), "2 different k-mers, not 3");
        let more = [right[0], pair(0b0110, 2), right[2]];
        assert_eq!(differs(&more), "CG was counted 2 times, not 1");
        let other = [right[0], right[1], pair(0b1111, 1)];
        assert_eq!(differs(&other), "TT was counted 1 times, not 0");
        let twice = [right[0], right[1], right[2], right[0]];
        assert_eq!(differs(&twice), "4 different k-mers, not 3");
    }
}
