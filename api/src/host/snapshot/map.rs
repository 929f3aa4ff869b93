//! What an allocator says of all parts of a heap.

use super::{Region, RegionUse};
use crate::host::{DeviceError, Usage};
use std::vec::Vec;

/// What an allocator's metadata say of each part of a heap, from
/// [`HostAlloc::map`](crate::host::HostAlloc::map).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapMap {
    /// What the allocator calls its units: `chunk`, `page`, `segment`.
    pub unit: &'static str,
    /// Bytes of one of them; 0 if the allocator does not tell.
    pub unit_bytes: u64,
    /// What is in use.
    pub usage: Usage,
    /// The parts, in order and without overlap. What lies between them no request can have; none at all says that the
    /// allocator does not tell.
    pub regions: Vec<Region>,
}

impl HeapMap {
    /// A heap in units of so many bytes, of which `look` shows each part and sums up what is in use. How a part comes behind
    /// the others is [`add`](Self::add) or [`join`](Self::join).
    ///
    /// # Errors
    /// As `look`.
    pub fn of(
        unit: &'static str,
        unit_bytes: u64,
        add: fn(&mut Vec<Region>, Region),
        look: impl FnOnce(&mut dyn FnMut(Region)) -> Result<Usage, DeviceError>,
    ) -> Result<Self, DeviceError> {
        let mut regions = Vec::new();
        let usage = look(&mut |region| add(&mut regions, region))?;
        Ok(HeapMap {
            unit,
            unit_bytes,
            usage,
            regions,
        })
    }

    /// The same with every number of bytes so many times: of a heap whose granules are as much larger.
    pub fn times(self, factor: u64) -> Self {
        HeapMap {
            unit_bytes: self.unit_bytes * factor,
            usage: self.usage.times(factor),
            regions: self.regions.iter().map(|part| part.times(factor)).collect(),
            ..self
        }
    }

    /// A heap of which only the sums are known.
    pub fn opaque(usage: Usage) -> Self {
        HeapMap {
            unit: "pool",
            unit_bytes: 0,
            usage,
            regions: Vec::new(),
        }
    }

    /// Adds a part behind the others. If it is free, or no block begins in it though it is one of a run, it is joined to one
    /// of the same use before it.
    pub fn add(regions: &mut Vec<Region>, region: Region) {
        let continues = match region.usage {
            RegionUse::Free | RegionUse::Queue(_) | RegionUse::Reserved => true,
            RegionUse::Run(_) => region.live_blocks == Some(0),
            _ => false,
        };
        match continues {
            true => Self::join(regions, region),
            false => regions.push(region),
        }
    }

    /// Adds a part behind the others, and joins it to one of the same use before it.
    pub fn join(regions: &mut Vec<Region>, region: Region) {
        match regions.last_mut() {
            Some(last) if last.usage == region.usage && last.end() == region.offset => {
                last.bytes += region.bytes;
                last.units = last.units.saturating_add(region.units);
                last.places = last.places.saturating_add(region.places);
                last.used_bytes += region.used_bytes;
                last.live_blocks = match (last.live_blocks, region.live_blocks) {
                    (Some(a), Some(b)) => Some(a.saturating_add(b)),
                    _ => None,
                };
            }
            _ => regions.push(region),
        }
    }

    /// The parts of a pool of so many bytes, from its beginning to its end: those that the allocator told, and what lies
    /// between them.
    pub(super) fn whole(self, pool_bytes: u64, metadata_bytes: u64) -> Vec<Region> {
        let plain = |offset, end: u64, usage| Region {
            offset,
            bytes: end - offset,
            usage,
            units: 0,
            places: 0,
            live_blocks: None,
            used_bytes: 0,
        };
        let mut whole = Vec::with_capacity(self.regions.len() + 2);
        if self.regions.is_empty() {
            let data = metadata_bytes.min(pool_bytes);
            if data > 0 {
                whole.push(plain(0, data, RegionUse::Reserved));
            }
            if data < pool_bytes {
                whole.push(plain(data, pool_bytes, RegionUse::Opaque));
            }
            return whole;
        }
        let mut end = 0;
        for region in self.regions {
            if region.offset > end {
                whole.push(plain(end, region.offset, RegionUse::Reserved));
            }
            end = region.end();
            whole.push(region);
        }
        if end < pool_bytes {
            whole.push(plain(end, pool_bytes, RegionUse::Reserved));
        }
        whole
    }
}
