//! Compares what the device answered with the CPU's join.

use super::reference::number;
use super::report::Found;
use crate::threads;
use thiserror::Error;
use warpheap::PoolStats;
use warpheap_applications::join::Match;

/// A difference between the device's answer and the reference.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Mismatch {
    /// Too many or too few matches.
    #[error("the join on the device is wrong: {got} matches instead of {expected}")]
    Count {
        /// Matches of the reference.
        expected: u64,
        /// Matches of the device.
        got: u64,
    },
    /// The right number of matches, but not these.
    #[error(
        "the join on the device is wrong: in order, match {at} is of the payloads {} and {} where {} and {} belong",
        .got >> 32, *.got as u32, .expected >> 32, *.expected as u32
    )]
    Pair {
        /// Place among the matches in order.
        at: usize,
        /// Match of the reference.
        expected: u64,
        /// Match of the device.
        got: u64,
    },
    /// The right number of matches, and others than another allocator's.
    #[error(
        "the join on the device is wrong: the matches have the checksum {got:016x}, and those of the first run {expected:016x}"
    )]
    Checksum {
        /// That of the first run.
        expected: u64,
        /// That of this one.
        got: u64,
    },
    /// The heap holds another number of blocks than the lanes have pages.
    #[error("the heap holds {got} blocks {when} instead of {expected}")]
    Blocks {
        /// At which moment.
        when: &'static str,
        /// Pages of the lanes.
        expected: u64,
        /// Blocks of the heap.
        got: u64,
    },
    /// Bytes that stayed in use.
    #[error("the heap holds {got} bytes after all pages were freed")]
    Bytes {
        /// How many.
        got: u64,
    },
}

/// Compares the number of matches.
///
/// # Errors
/// [`Mismatch::Count`].
pub fn count(expected: u64, got: u64) -> Result<(), Mismatch> {
    match expected == got {
        true => Ok(()),
        false => Err(Mismatch::Count { expected, got }),
    }
}

/// Compares the matches of one run with those of another, of which only number and sum are known.
///
/// # Errors
/// [`Mismatch::Count`], [`Mismatch::Checksum`].
pub fn same(expected: Found, got: Found) -> Result<(), Mismatch> {
    count(expected.matches, got.matches)?;
    match expected.checksum == got.checksum {
        true => Ok(()),
        false => Err(Mismatch::Checksum {
            expected: expected.checksum,
            got: got.checksum,
        }),
    }
}

/// Compares matches in any order with those of the reference, which are in order.
///
/// # Errors
/// [`Mismatch`] for the first that differs.
pub fn matches(reference: &[u64], found: &[Match]) -> Result<(), Mismatch> {
    count(reference.len() as u64, found.len() as u64)?;
    let found: Vec<u64> = found.iter().map(|found| number(*found)).collect();
    let found = threads::sorted(&found);
    let mut pairs = reference.iter().zip(&found).enumerate();
    match pairs.find(|(_, (expected, got))| expected != got) {
        None => Ok(()),
        Some((at, (&expected, &got))) => Err(Mismatch::Pair { at, expected, got }),
    }
}

/// Compares the blocks of a heap with the lanes' pages, where the allocator counts its blocks.
///
/// # Errors
/// [`Mismatch::Blocks`].
pub fn filled(pages: u64, stats: &PoolStats) -> Result<(), Mismatch> {
    blocks("beside the probe", pages, stats)
}

/// Checks that nothing is left in a heap whose allocator frees.
///
/// # Errors
/// [`Mismatch::Blocks`], [`Mismatch::Bytes`].
pub fn emptied(stats: &PoolStats) -> Result<(), Mismatch> {
    blocks("after all pages were freed", 0, stats)?;
    match stats.usage.used_bytes {
        0 => Ok(()),
        got => Err(Mismatch::Bytes { got }),
    }
}

fn blocks(when: &'static str, expected: u64, stats: &PoolStats) -> Result<(), Mismatch> {
    match stats.usage.live_blocks {
        Some(got) if got != expected => Err(Mismatch::Blocks {
            when,
            expected,
            got,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::Usage;

    fn found(pairs: &[(u32, u32)]) -> Vec<Match> {
        let pair = |&(build, probe): &(u32, u32)| Match { build, probe };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn order_does_not_matter_but_multiplicity_does() {
        let reference: Vec<u64> = found(&[(1, 2), (1, 2), (3, 1)])
            .into_iter()
            .map(number)
            .collect();
        assert_eq!(
            matches(&reference, &found(&[(3, 1), (1, 2), (1, 2)])),
            Ok(())
        );
        let wrong = matches(&reference, &found(&[(3, 1), (3, 1), (1, 2)]));
        let text = wrong.map_err(|error| error.to_string());
        assert!(text.is_err_and(|text| text.contains("payloads 3 and 1 where 1 and 2")));
        let few = matches(&reference, &found(&[(3, 1)]));
        assert_eq!(
            few,
            Err(Mismatch::Count {
                expected: 3,
                got: 1
            })
        );
    }

    #[test]
    fn runs_that_nobody_checks_have_to_find_the_same() {
        let found = |matches, checksum| Found {
            pages: 1,
            matches,
            checksum,
        };
        assert_eq!(same(found(2, 7), found(2, 7)), Ok(()));
        let text = |got| same(found(2, 7), got).unwrap_err().to_string();
        assert!(text(found(3, 7)).contains("3 matches instead of 2"));
        assert!(text(found(2, 10)).contains("checksum 000000000000000a"));
    }

    #[test]
    fn lost_pages_are_found_where_blocks_are_counted() {
        let stats = |live_blocks, used_bytes| PoolStats {
            allocator: "Bump",
            pool_bytes: 1024,
            metadata_bytes: 64,
            usage: Usage {
                live_blocks,
                used_bytes,
                ..Usage::default()
            },
            failures: [0; 3],
            refused_bytes: 0,
            mallocs: 0,
            frees: 0,
            malloc_bytes: 0,
            free_bytes: 0,
            budget: None,
        };
        assert_eq!(filled(3, &stats(Some(3), 96)), Ok(()));
        assert_eq!(filled(3, &stats(None, 96)), Ok(()));
        assert!(filled(3, &stats(Some(2), 64)).is_err());
        assert_eq!(emptied(&stats(Some(0), 0)), Ok(()));
        assert!(emptied(&stats(Some(1), 0)).is_err());
        assert!(emptied(&stats(None, 32)).is_err());
    }
}
