//! Rows brought to the ranks that join them.

use crate::error::JobError;
use crate::join::tables::Tables;
use crate::progress::Progress;
use crate::ranks::cut::by_owner;
use crate::ranks::owner::{mixed, of_hash};
use crate::ranks::rounds::{self, Rounds, Times};
use warpheap_applications::join::Tuple;
use warpheap_dist::World;

/// What a rank has to join, and what it took to bring it there.
pub struct Spread {
    /// All rows whose keys belong to this rank, and no others.
    pub tables: Tables,
    /// Sorting rows by ranks and putting together what came, and the exchange.
    pub times: Times,
}

/// Sends the rows that this rank read to those that join them, `batch` at a time, and receives its own. A call of all ranks.
///
/// # Errors
/// As [`World::exchange`].
pub fn spread(
    world: &World,
    tables: Tables,
    batch: u32,
    progress: &dyn Progress,
) -> Result<Spread, JobError> {
    let mut times = Times::default();
    let mut table = |rows: Vec<Tuple>| -> Result<Vec<Tuple>, JobError> {
        let rounds = rows.len().div_ceil(batch as usize) as u64;
        let bar = progress.bar("exchanging rows".to_owned(), rounds);
        let mut rows = Rows {
            rows,
            batch: batch as usize,
            ranks: world.size(),
            received: Vec::new(),
        };
        times.append(rounds::all(world, rounds, &mut rows, || bar.advance(1))?);
        Ok(rows.received)
    };
    let tables = Tables {
        left: table(tables.left)?,
        right: table(tables.right)?,
    };
    Ok(Spread { tables, times })
}

/// The rows of a table that are sent, and those that came.
struct Rows {
    rows: Vec<Tuple>,
    batch: usize,
    ranks: usize,
    received: Vec<Tuple>,
}

impl Rounds<Tuple> for Rows {
    fn cut(&mut self, round: u64) -> Vec<Vec<Tuple>> {
        let batch = self.rows.chunks(self.batch).nth(round as usize);
        let batch = batch.unwrap_or_default();
        by_owner(batch, self.ranks, |row| owner(row.key, self.ranks))
    }

    fn take(&mut self, parts: Vec<Vec<Tuple>>) {
        parts
            .iter()
            .for_each(|part| self.received.extend_from_slice(part));
    }
}

/// The rank that joins the rows of a key. The hash is none of the kernels': theirs has to spread the keys of one rank.
pub fn owner(key: u32, ranks: usize) -> usize {
    // A hash of the sum, because that of 0 is 0.
    of_hash(mixed(u64::from(key) + (1 << 32)), ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::tables::Generator;

    #[test]
    fn rows_are_cut_once_and_evenly() {
        let rows = Generator::default().tables().left;
        let mut job = Rows {
            rows: rows.clone(),
            batch: 1000,
            ranks: 3,
            received: Vec::new(),
        };
        let mut counts = [0; 3];
        for round in 0..rows.len().div_ceil(1000) as u64 {
            let parts = job.cut(round);
            for (rank, part) in parts.iter().enumerate() {
                assert!(part.iter().all(|row| owner(row.key, 3) == rank));
                counts[rank] += part.len();
            }
            job.take(parts);
        }
        assert!(job.cut(1 << 20).iter().all(Vec::is_empty));
        let numbers = |rows: Vec<Tuple>| {
            let mut numbers: Vec<u32> = rows.iter().map(|row| row.payload).collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(numbers(job.received), numbers(rows));
        assert!(
            counts.iter().all(|count| (21_000..22_700).contains(count)),
            "{counts:?}"
        );
    }
}
