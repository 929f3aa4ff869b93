//! The tables that are joined: generated ones, and where they came from.

use super::read;
use super::report::Source;
use crate::error::{JobError, within};
use crate::ranks::border;
use std::path::PathBuf;
use warpheap::rt::sync::hash;
use warpheap_applications::join::Tuple;

/// Most matches: 2 GiB on the device and twice that on the host.
pub const MOST_MATCHES: u64 = 1 << 28;
/// Most rows of a table on a device: a lane's index goes beyond the last row by one round, and stays a word.
pub const MOST_ROWS: u32 = 1 << 28;
/// Most rows of a generated table that several ranks share: keys and numbers of rows stay words.
pub const MOST_ROWS_OF_RANKS: u32 = 1 << 31;

/// Two tables.
#[derive(Debug, PartialEq, Eq)]
pub struct Tables {
    /// The one that is hashed.
    pub left: Vec<Tuple>,
    /// The one whose rows look for theirs.
    pub right: Vec<Tuple>,
}

/// What tables to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generator {
    /// Rows of the left table.
    pub left: u32,
    /// Rows of the right table.
    pub right: u32,
    /// Left rows with the key of a right row, on average.
    pub matches: u32,
    /// Percent of the right rows that have all the same key.
    pub skew: u32,
    /// Tables with different seeds are different.
    pub seed: u64,
}

impl Default for Generator {
    fn default() -> Self {
        Generator {
            left: Self::ROWS,
            right: Self::ROWS,
            matches: 1,
            skew: 0,
            seed: Self::SEED,
        }
    }
}

/// Where tables are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// They are read from CSV files.
    Files {
        /// The left one.
        left: PathBuf,
        /// The right one.
        right: PathBuf,
    },
    /// They are generated.
    Generated(Generator),
}

impl Default for Input {
    fn default() -> Self {
        Input::Generated(Generator::default())
    }
}

impl Input {
    /// Reads or generates the tables.
    ///
    /// # Errors
    /// [`JobError::Input`] for a bad file, [`JobError::Usage`] for what cannot be generated.
    pub fn tables(&self) -> Result<(Tables, Source), JobError> {
        let generator = match self {
            Input::Generated(generator) => generator,
            Input::Files { left, right } => {
                let tables = Tables {
                    left: read::read(left)?,
                    right: read::read(right)?,
                };
                let source = Source::Files {
                    left: left.display().to_string(),
                    right: right.display().to_string(),
                };
                return Ok((tables, source));
            }
        };
        generator.check(1)?;
        Ok((generator.tables(), generator.source()))
    }
}

/// Checks that the host can hold so many matches.
///
/// # Errors
/// [`JobError::Usage`].
pub fn check_matches(matches: u64) -> Result<(), JobError> {
    if matches > MOST_MATCHES {
        return Err(JobError::Usage(format!(
            "this join has {matches} matches; at most {MOST_MATCHES} can be handled by one process: take fewer rows, or keys that \
             fewer rows share"
        )));
    }
    Ok(())
}

impl Generator {
    /// Rows of a table when nobody says how many.
    pub const ROWS: u32 = 1 << 16;
    /// The seed when nobody says which.
    pub const SEED: u64 = 1;

    /// Checks that so many ranks can have such tables together.
    ///
    /// # Errors
    /// [`JobError::Usage`] if not.
    pub(super) fn check(&self, ranks: usize) -> Result<(), JobError> {
        let most = match ranks {
            1 => MOST_ROWS,
            _ => MOST_ROWS_OF_RANKS,
        };
        within("--rows", self.left, 1..=most)?;
        within("--rows-right", self.right, 1..=most)?;
        within("--skew", self.skew, 0..=100)?;
        if self.matches > self.left {
            return Err(JobError::Usage(format!(
                "--matches {} needs as many rows of the left table, which has {}: give --rows more or --matches less",
                self.matches, self.left
            )));
        }
        match ranks {
            1 => check_matches(self.all_matches()),
            // Each rank finds out how many it has.
            _ => Ok(()),
        }
    }

    /// How many matches there are, about.
    fn all_matches(&self) -> u64 {
        u64::from(self.right) * u64::from(self.matches)
    }

    /// How many matches there are, if each key of the left table stands in equally many rows.
    pub fn known_matches(&self) -> Option<u64> {
        let even = self.matches == 0 || self.left % self.matches == 0;
        even.then(|| self.all_matches())
    }

    /// What a report says of such tables.
    pub(super) fn source(&self) -> Source {
        Source::Generated {
            matches: self.matches,
            skew_percent: self.skew,
            seed: self.seed,
        }
    }

    /// The tables. A payload is the number of its row.
    pub fn tables(&self) -> Tables {
        self.part(0, 1)
    }

    /// Part `part` of `parts` of the rows of both, in their order.
    pub fn part(&self, part: usize, parts: usize) -> Tables {
        let rows = |all: u32| {
            let border = |part| border(all.into(), part, parts) as u32;
            border(part)..border(part + 1)
        };
        // Each key stands in the left table `matches` times.
        let keys = (self.left / self.matches.max(1)).max(1);
        let seed = mix(self.seed);
        let key = |number: u32| hash(number ^ seed as u32);
        let left = rows(self.left).map(|row| Tuple {
            key: key(row % keys),
            payload: row,
        });
        let right = rows(self.right).map(|row| {
            let draw = mix(seed ^ u64::from(row));
            let number = match (draw >> 32) % 100 < u64::from(self.skew) {
                true => 0,
                false => draw as u32 % keys,
            };
            // Without matches: keys behind all those of the left table.
            let number = match self.matches {
                0 => number + keys,
                _ => number,
            };
            Tuple {
                key: key(number),
                payload: row,
            }
        });
        Tables {
            left: left.collect(),
            right: right.collect(),
        }
    }
}

/// SplitMix64's finaliser: 64 well mixed bits of any 64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::super::reference::Sorted;
    use super::*;

    fn generator(matches: u32, skew: u32) -> Generator {
        Generator {
            left: 1000,
            right: 3000,
            matches,
            skew,
            seed: 1,
        }
    }

    #[test]
    fn right_rows_find_as_many_as_asked_for() {
        for matches in [0, 1, 2, 10, 1000] {
            for skew in [0, 30, 100] {
                let tables = generator(matches, skew).tables();
                assert_eq!((tables.left.len(), tables.right.len()), (1000, 3000));
                let found = Sorted::new(&tables).count();
                assert_eq!(found, 3000 * u64::from(matches), "{matches}, {skew} %");
                assert_eq!(generator(matches, skew).known_matches(), Some(found));
            }
        }
    }

    #[test]
    fn skew_gives_rows_one_key() {
        let tables = generator(1, 50).tables();
        let hot = tables.left[0].key;
        let count = tables.right.iter().filter(|row| row.key == hot).count();
        assert!((1400..1600).contains(&count), "{count}");
    }

    #[test]
    fn parts_are_all_rows_in_their_order() {
        let whole = generator(2, 10).tables();
        for parts in [2, 3, 7, 5000] {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for part in (0..parts).map(|part| generator(2, 10).part(part, parts)) {
                left.extend(part.left);
                right.extend(part.right);
            }
            assert_eq!(Tables { left, right }, whole, "{parts} parts");
        }
    }

    #[test]
    fn the_seed_decides() {
        let one = generator(1, 10);
        assert_eq!(one.tables(), one.tables());
        assert_ne!(one.tables(), Generator { seed: 2, ..one }.tables());
    }
}
