//! What became different between two snapshots of a pool.

use super::{RegionUse, Snapshot, UseTotals};
use std::collections::BTreeMap;
use std::fmt;
use std::vec::Vec;

/// What became different from one snapshot of a pool to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The sequence numbers of both.
    pub between: (u64, u64),
    /// Bytes of the pool whose use is another.
    pub moved_bytes: u64,
    /// Bytes of blocks: those of the later snapshot less those of the earlier.
    pub used_bytes: i64,
    /// The longest free stretch, the same way; `None` if the allocator does not tell.
    pub largest_free_run: Option<i64>,
    /// By use, those alone that differ.
    pub uses: Vec<UseChange>,
}

/// What became different of all parts of one use: the later sum less the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseChange {
    /// The use.
    pub usage: RegionUse,
    /// The allocator's units.
    pub units: i64,
    /// Bytes tied.
    pub bytes: i64,
    /// Blocks in use; `None` if the metadata do not tell.
    pub live_blocks: Option<i64>,
    /// Their bytes.
    pub used_bytes: i64,
}

fn less(later: u64, earlier: u64) -> i64 {
    later as i64 - earlier as i64
}

impl Snapshot {
    /// What became different since an earlier snapshot of the same pool. `None` if that is of another allocator or of a pool
    /// of another size.
    pub fn changes_since(&self, earlier: &Snapshot) -> Option<Changes> {
        let (new, old) = (&self.stats, &earlier.stats);
        let same = (new.allocator, new.pool_bytes) == (old.allocator, old.pool_bytes);
        same.then(|| Changes {
            between: (earlier.sequence, self.sequence),
            moved_bytes: moved(earlier, self),
            used_bytes: less(new.usage.used_bytes, old.usage.used_bytes),
            largest_free_run: self
                .largest_free_run()
                .zip(earlier.largest_free_run())
                .map(|(later, earlier)| less(later, earlier)),
            uses: by_use(&earlier.uses(), &self.uses()),
        })
    }
}

/// Bytes whose use differs: both lists of parts are gone through together, from end to end.
fn moved(earlier: &Snapshot, later: &Snapshot) -> u64 {
    let (mut old, mut new) = (earlier.regions.iter(), later.regions.iter());
    let (mut a, mut b) = (old.next(), new.next());
    let (mut at, mut moved) = (0, 0);
    while let (Some(before), Some(after)) = (a, b) {
        let end = before.end().min(after.end());
        if before.usage != after.usage {
            moved += end - at;
        }
        at = end;
        if before.end() == end {
            a = old.next();
        }
        if after.end() == end {
            b = new.next();
        }
    }
    moved
}

fn by_use(earlier: &[UseTotals], later: &[UseTotals]) -> Vec<UseChange> {
    let mut both: BTreeMap<RegionUse, [Option<&UseTotals>; 2]> = BTreeMap::new();
    for (side, all) in [earlier, later].into_iter().enumerate() {
        for totals in all {
            both.entry(totals.usage).or_default()[side] = Some(totals);
        }
    }
    let change = |(usage, [old, new]): (RegionUse, [Option<&UseTotals>; 2])| {
        let sum = |of: fn(&UseTotals) -> u64| less(new.map_or(0, of), old.map_or(0, of));
        let blocks = |side: Option<&UseTotals>| side.map_or(Some(0), |totals| totals.live_blocks);
        UseChange {
            usage,
            units: sum(|totals| totals.units),
            bytes: sum(|totals| totals.bytes),
            live_blocks: blocks(new)
                .zip(blocks(old))
                .map(|(new, old)| less(new, old)),
            used_bytes: sum(|totals| totals.used_bytes),
        }
    };
    let differs = |change: &UseChange| {
        (change.units, change.bytes, change.used_bytes) != (0, 0, 0)
            || change.live_blocks.is_some_and(|blocks| blocks != 0)
    };
    both.into_iter().map(change).filter(differs).collect()
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "from snapshot {} to {}: {:+} bytes in use, {} bytes with another use",
            self.between.0, self.between.1, self.used_bytes, self.moved_bytes
        )?;
        if let Some(bytes) = self.largest_free_run {
            write!(f, ", longest free stretch {bytes:+} bytes")?;
        }
        for change in &self.uses {
            write!(
                f,
                "\n{:>16} {:+} units, {:+} bytes",
                change.usage, change.units, change.bytes
            )?;
            if let Some(blocks) = change.live_blocks.filter(|blocks| *blocks != 0) {
                write!(f, ", {blocks:+} blocks")?;
            }
        }
        Ok(())
    }
}
