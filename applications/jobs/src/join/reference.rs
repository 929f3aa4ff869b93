//! The plain CPU join, with no heap of ours.

use super::tables::Tables;
use crate::ranks::owner::mixed;
use crate::threads;
use warpheap_applications::join::{Match, Tuple};

/// A match as a number: the order in which matches are compared.
pub fn number(found: Match) -> u64 {
    u64::from(found.build) << 32 | u64::from(found.probe)
}

/// A number for matches in any order: the sum of their hashes, modulo 2⁶⁴. That of several lists is the sum of theirs.
pub fn checksum(found: &[Match]) -> u64 {
    let hashes = found.iter().map(|found| mixed(number(*found)));
    hashes.fold(0, u64::wrapping_add)
}

/// Rows as numbers in the order of their keys.
fn sorted(rows: &[Tuple]) -> Vec<u64> {
    let number = |row: &Tuple| u64::from(row.key) << 32 | u64::from(row.payload);
    threads::sorted(&rows.iter().map(number).collect::<Vec<_>>())
}

/// The stretches of rows of both tables that have the same key, key by key.
fn meet(left: &[u64], right: &[u64], mut found: impl FnMut(&[u64], &[u64])) {
    let key = |row: u64| row >> 32;
    let end = |rows: &[u64]| {
        let first = rows.first().map_or(0, |row| key(*row));
        rows.iter().take_while(|row| key(**row) == first).count()
    };
    let (mut left, mut right) = (left, right);
    while let (Some(one), Some(other)) = (left.first(), right.first()) {
        let order = key(*one).cmp(&key(*other));
        let (mine, theirs) = (end(left), end(right));
        if order.is_eq() {
            found(&left[..mine], &right[..theirs]);
        }
        if order.is_le() {
            left = &left[mine..];
        }
        if order.is_ge() {
            right = &right[theirs..];
        }
    }
}

/// Both tables in the order of their keys.
pub struct Sorted {
    left: Vec<u64>,
    right: Vec<u64>,
}

impl Sorted {
    /// Sorts the rows of both tables.
    pub fn new(tables: &Tables) -> Self {
        Sorted {
            left: sorted(&tables.left),
            right: sorted(&tables.right),
        }
    }

    /// The number of matches, without making them.
    pub fn count(&self) -> u64 {
        let mut count = 0;
        meet(&self.left, &self.right, |left, right| {
            count += left.len() as u64 * right.len() as u64;
        });
        count
    }

    /// All matches as [`number`]s, in order.
    pub fn join(&self) -> Vec<u64> {
        let mut matches = Vec::new();
        meet(&self.left, &self.right, |left, right| {
            for build in left {
                for probe in right {
                    matches.push(number(Match {
                        build: *build as u32,
                        probe: *probe as u32,
                    }));
                }
            }
        });
        threads::sorted(&matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(u32, u32)]) -> Vec<Tuple> {
        let row = |&(key, payload): &(u32, u32)| Tuple { key, payload };
        rows.iter().map(row).collect()
    }

    #[test]
    fn pairs_of_equal_keys_with_multiplicity() {
        let tables = Tables {
            left: table(&[(7, 1), (3, 2), (7, 3), (9, 9), (u32::MAX, 4)]),
            right: table(&[(7, 10), (8, 11), (7, 10), (u32::MAX, 12), (0, 13)]),
        };
        let pair = |build, probe| number(Match { build, probe });
        let expected = [
            pair(1, 10),
            pair(1, 10),
            pair(3, 10),
            pair(3, 10),
            pair(4, 12),
        ];
        let sorted = Sorted::new(&tables);
        assert_eq!(sorted.join(), expected);
        assert_eq!(sorted.count(), 5);
    }

    #[test]
    fn checksums_depend_on_matches_and_not_on_their_order() {
        let found = |pairs: &[(u32, u32)]| {
            let pair = |&(build, probe): &(u32, u32)| Match { build, probe };
            checksum(&pairs.iter().map(pair).collect::<Vec<_>>())
        };
        let all = found(&[(1, 2), (3, 4), (3, 4)]);
        assert_eq!(all, found(&[(3, 4), (1, 2), (3, 4)]));
        assert_eq!(all, found(&[(3, 4)]).wrapping_add(found(&[(1, 2), (3, 4)])));
        for other in [&[(1, 2), (3, 4)][..], &[(2, 1), (3, 4), (3, 4)], &[]] {
            assert_ne!(all, found(other), "{other:?}");
        }
    }

    #[test]
    fn nothing_meets_nothing() {
        let tables = Tables {
            left: table(&[(1, 1)]),
            right: table(&[(2, 1)]),
        };
        let sorted = Sorted::new(&tables);
        assert_eq!((sorted.count(), sorted.join()), (0, Vec::new()));
    }
}
