//! Sums of a snapshot by use.

use super::{Region, RegionUse, Snapshot};
use std::collections::BTreeMap;
use std::vec::Vec;

/// What all parts of one use hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseTotals {
    /// The use.
    pub usage: RegionUse,
    /// The allocator's units that have it: chunks, pages, segments.
    pub units: u64,
    /// Bytes of these parts.
    pub bytes: u64,
    /// Blocks in use that begin there; `None` if the metadata do not tell.
    pub live_blocks: Option<u64>,
    /// Their bytes, as the allocator rounds them.
    pub used_bytes: u64,
    /// Bytes of the places for blocks that these parts have: what is left of their [`bytes`](Self::bytes) no block can have.
    pub room: u64,
    /// Places that are free; `None` if the metadata do not tell.
    pub free_places: Option<u64>,
    /// Parts that are pinned.
    pub pinned: Pinned,
}

/// Parts that few blocks keep from other uses ([`Region::is_pinned`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    /// How many.
    pub regions: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The blocks in use that begin in them.
    pub blocks: u64,
}

impl Pinned {
    fn add(&mut self, region: &Region) {
        if region.is_pinned() {
            self.regions += 1;
            self.bytes += region.bytes;
            self.blocks += u64::from(region.live_blocks.unwrap_or(0));
        }
    }
}

impl UseTotals {
    fn none(usage: RegionUse) -> Self {
        UseTotals {
            usage,
            units: 0,
            bytes: 0,
            live_blocks: Some(0),
            used_bytes: 0,
            room: 0,
            free_places: Some(0),
            pinned: Pinned::default(),
        }
    }

    fn add(&mut self, region: &Region) {
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        self.units += u64::from(region.units);
        self.bytes += region.bytes;
        self.live_blocks = sum(self.live_blocks, region.live_blocks.map(u64::from));
        self.used_bytes += region.used_bytes;
        self.room += region.room();
        self.free_places = sum(self.free_places, region.free_places());
        self.pinned.add(region);
    }

    /// What part of the places is in use, from 0 to 1: `None` if there are none, or the metadata do not tell.
    pub fn fill(&self) -> Option<f64> {
        let known = self.live_blocks.is_some() && self.room > 0;
        known.then(|| self.used_bytes as f64 / self.room as f64)
    }
}

impl Snapshot {
    /// The sums by use: slabs by the size of their blocks, then units, runs and the others. Their bytes are those of the pool.
    pub fn uses(&self) -> Vec<UseTotals> {
        let mut uses = BTreeMap::new();
        for region in &self.regions {
            uses.entry(region.usage)
                .or_insert_with(|| UseTotals::none(region.usage))
                .add(region);
        }
        let mut uses: Vec<UseTotals> = uses.into_values().collect();
        for totals in &mut uses {
            self.complete(totals);
        }
        uses
    }

    /// Where parts do not tell how many blocks they have, the sums may: allocators count free pages of all chunks together.
    fn complete(&self, totals: &mut UseTotals) {
        if totals.live_blocks.is_some() || !totals.usage.has_class() {
            return;
        }
        let classes = &self.stats.usage.classes;
        let known = classes
            .iter()
            .find(|class| Some(class.block) == totals.usage.block());
        if let Some(class) = known {
            totals.live_blocks = Some(class.live_blocks);
            totals.used_bytes = class.used_bytes;
            let each = class.used_bytes.checked_div(class.live_blocks);
            let left = totals.room.saturating_sub(class.used_bytes);
            totals.free_places = each.and_then(|each| left.checked_div(each));
        }
    }

    /// The parts that are pinned, all together.
    pub fn pinned(&self) -> Pinned {
        let mut pinned = Pinned::default();
        for region in &self.regions {
            pinned.add(region);
        }
        pinned
    }
}
