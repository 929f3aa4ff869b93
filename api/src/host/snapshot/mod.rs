//! A heap's parts at one moment, and how they change from one moment to the next.
//!
//! | module | what |
//! |---|---|
//! | `region` | a part of a pool that has one use |
//! | `map` | all parts, as an allocator tells them |
//! | `totals` | their sums by use |
//! | `changes` | what became different between two snapshots |
//! | `series` | snapshots that a program takes while it works |
//! | `ages` | since when parts have their use |
//! | `show` | a snapshot as text |

mod ages;
mod changes;
mod map;
mod region;
mod series;
mod show;
#[cfg(test)]
mod tests;
mod totals;

pub use ages::Ages;
pub use changes::{Changes, UseChange};
pub use map::HeapMap;
pub use region::{Region, RegionUse};
pub use series::SnapshotSeries;
pub use totals::{Pinned, UseTotals};

use super::PoolStats;
use std::vec::Vec;

/// The parts of a pool at one moment, from [`Pool::snapshot`](super::Pool::snapshot). A plain value: the pool may be gone.
///
/// It shows itself as a table by use and, in the last line, why a request may find nothing though memory is free.
///
/// Sizes of blocks are those that the allocator rounds requests to: no heap keeps what was asked for. The waste that comes
/// of rounding is known where the pool's allocator is `Counted`: [`rounding_bytes`](Self::rounding_bytes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of the snapshot among those of its pool, from 0.
    pub sequence: u64,
    /// The sums, as of [`Pool::stats`](super::Pool::stats).
    pub stats: PoolStats,
    /// What the allocator calls its units: `chunk`, `page`, `segment`; `pool` if it does not tell.
    pub unit: &'static str,
    /// Bytes of one of them; 0 if the allocator does not tell.
    pub unit_bytes: u64,
    /// The parts of the pool, one behind the other from its beginning to its end.
    pub regions: Vec<Region>,
}

impl Snapshot {
    pub(super) fn new(sequence: u64, map: HeapMap, mut stats: PoolStats) -> Self {
        let (unit, unit_bytes) = (map.unit, map.unit_bytes);
        stats.usage = map.usage.clone();
        let regions = map.whole(stats.pool_bytes, stats.metadata_bytes);
        Snapshot {
            sequence,
            stats,
            unit,
            unit_bytes,
            regions,
        }
    }

    /// Bytes that are in no block and that are no metadata.
    pub fn free_bytes(&self) -> u64 {
        let stats = &self.stats;
        let taken = stats.metadata_bytes + stats.usage.used_bytes;
        stats.pool_bytes.saturating_sub(taken)
    }

    /// Bytes of the longest stretch that no use is tied to: one request without a special alignment can have it, if the
    /// allocator serves blocks as large. `None` if the allocator does not tell.
    pub fn largest_free_run(&self) -> Option<u64> {
        if self.stats.usage.largest_free_run.is_some() {
            return self.stats.usage.largest_free_run;
        }
        let tells = |region: &Region| region.usage != RegionUse::Opaque;
        if !self.regions.iter().all(tells) {
            return None;
        }
        let (mut here, mut most) = (0, 0);
        for region in &self.regions {
            here = if region.usage.is_free() {
                here + region.bytes
            } else {
                0
            };
            most = most.max(here);
        }
        Some(most)
    }

    /// Bytes that blocks in use are larger than what was asked for; `None` unless the pool's allocator is `Counted`.
    pub fn rounding_bytes(&self) -> Option<u64> {
        let stats = &self.stats;
        let counted = stats.mallocs > 0;
        counted.then(|| stats.usage.used_bytes.saturating_sub(stats.live_bytes()))
    }
}
