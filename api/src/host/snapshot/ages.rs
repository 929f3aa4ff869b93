//! Since when parts of a heap have their use.

use super::{Region, RegionUse, Snapshot};
use std::collections::BTreeMap;

/// Since when each part of a pool that blocks are tied to has its use, as far as snapshots tell. Add all snapshots of one pool
/// in their order.
///
/// An age counts snapshots: taken after each launch, it counts launches. A part that became free and got the same use again
/// between two snapshots looks as if it had kept it.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    /// By where a part begins: its use, and the snapshot that first saw it.
    since: BTreeMap<u64, (RegionUse, u64)>,
    newest: u64,
}

impl Ages {
    /// Nothing was seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sees the next snapshot.
    pub fn add(&mut self, snapshot: &Snapshot) {
        let before = std::mem::take(&mut self.since);
        self.newest = snapshot.sequence;
        for region in &snapshot.regions {
            if region.used_bytes == 0 && region.live_blocks.is_some() {
                continue;
            }
            let kept = before.get(&region.offset);
            let kept = kept.filter(|(usage, _)| *usage == region.usage);
            let since = kept.map_or(snapshot.sequence, |(_, since)| *since);
            self.since.insert(region.offset, (region.usage, since));
        }
    }

    /// Snapshots since the one that first saw this part of the newest snapshot in its use: 0 if that is the newest itself.
    /// `None` for what no block is tied to.
    pub fn of(&self, region: &Region) -> Option<u64> {
        let (usage, since) = self.since.get(&region.offset)?;
        (*usage == region.usage).then(|| self.newest.saturating_sub(*since))
    }
}
