//! [`RandomWalkMalloc`] on the host.

use super::steps::CountsSteps;
use crate::alloc::RandomWalkMalloc;
use crate::alloc::random_walk::STEPS_WORD;
use crate::alloc::random_walk::units::{
    MAP_WORD, PARAM_COUNTS, PARAM_DATA, PARAM_MARKS, PARAM_REGION, PARAM_SHIFT, PARAM_UNITS,
    PARAM_WALK, Tables, map_words,
};
use std::vec;
use std::vec::Vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Region, RegionUse,
    Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of [`RandomWalkMalloc`]; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomWalkMallocConfig {
    /// Bytes of a unit: a power of two from 16 to 4096. Default 256.
    pub unit_bytes: u32,
    /// Units of a region, the greatest size in units: a multiple of 32, at most 512 KiB in all. Default
    /// 2048.
    pub region_units: u32,
    /// Random regions that a request looks at before its warp goes through all in order. Default 16.
    pub walk_regions: u32,
    /// Whether steps are counted; see [`WalkSteps`](super::WalkSteps). Default no.
    pub count_steps: bool,
}

impl Default for RandomWalkMallocConfig {
    fn default() -> Self {
        RandomWalkMallocConfig {
            unit_bytes: 256,
            region_units: 2048,
            walk_regions: 16,
            count_steps: false,
        }
    }
}

impl RandomWalkMallocConfig {
    fn check(&self) -> Result<(), PlanError> {
        let bad = |setting, value: u32, why| {
            Err(PlanError::BadSetting {
                allocator: RandomWalkMalloc::NAME,
                setting,
                value: value as u64,
                why,
            })
        };
        if !self.unit_bytes.is_power_of_two() || !(16..=4096).contains(&self.unit_bytes) {
            let why = "give a power of two from 16 bytes to 4 KiB";
            return bad("unit_bytes", self.unit_bytes, why);
        }
        let most = RandomWalkMalloc::CAPS.max_size;
        let region = self.region_units as u64 * self.unit_bytes as u64;
        if self.region_units == 0 || self.region_units % 32 != 0 || region > most {
            let why = "give a multiple of 32 that makes at most 512 KiB";
            return bad("region_units", self.region_units, why);
        }
        Ok(())
    }
}

/// Most units of a heap: what is behind them in the tables' arithmetic stays within a word.
const MOST_UNITS: u64 = 1 << 30;

/// The unit behind the tables of a heap of so many units: the data begin there.
fn first_unit(units: u64, unit_bytes: u64) -> u64 {
    (Tables::new(units as u32).end as u64 * 4).div_ceil(unit_bytes)
}

impl CountsSteps for RandomWalkMalloc {}

impl HostAlloc for RandomWalkMalloc {
    const KIND: u32 = kind_of(Self::NAME);
    const LEAST_BLOCK: u64 = 256;
    type Config = RandomWalkMallocConfig;

    fn plan(bytes: u64, config: &RandomWalkMallocConfig) -> Result<HeapPlan, PlanError> {
        config.check()?;
        let unit_bytes = config.unit_bytes as u64;
        let room = bytes / unit_bytes;
        // Fewer units need smaller tables, so this ends.
        let mut units = room.min(MOST_UNITS);
        while units > 0 {
            let needed = first_unit(units, unit_bytes) + units;
            if needed <= room {
                break;
            }
            units = units.saturating_sub((needed - room).div_ceil(2));
        }
        if units == 0 {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: (first_unit(1, unit_bytes) + 1) * unit_bytes,
            });
        }
        let first = first_unit(units, unit_bytes);
        let units = units as u32;
        let tables = Tables::new(units);
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (first * unit_bytes / 16) as u32;
        params[PARAM_UNITS] = units;
        params[PARAM_SHIFT] = (config.unit_bytes / 16).ilog2();
        params[PARAM_MARKS] = tables.marks;
        params[PARAM_REGION] = config.region_units / 32;
        params[PARAM_WALK] = config.walk_regions;
        params[PARAM_COUNTS] = config.count_steps as u32;
        let mut fills = vec![Fill {
            word: STEPS_WORD as u64,
            words: tables.end as u64 - STEPS_WORD as u64,
            value: 0,
        }];
        if units % 32 != 0 {
            // The bits of the last word that stand for no unit are taken.
            fills.push(Fill {
                word: tables.marks as u64 - 1,
                words: 1,
                value: u32::MAX << (units % 32),
            });
        }
        Ok(HeapPlan {
            params,
            fills,
            metadata_bytes: bytes - units as u64 * unit_bytes,
        })
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        let units = params[PARAM_UNITS];
        let words = map_words(units);
        let mut used = 0u64;
        let mut part = vec![0u32; 1 << 16];
        let mut word = 0;
        while word < words {
            let part = &mut part[..(words - word).min(1 << 16) as usize];
            heap.read(MAP_WORD as u64 + word as u64, part)?;
            used += part
                .iter()
                .map(|bits| bits.count_ones() as u64)
                .sum::<u64>();
            word += part.len() as u32;
        }
        let none = words as u64 * 32 - units as u64;
        let used = used.saturating_sub(none).min(units as u64);
        let bytes = used * (16u64 << params[PARAM_SHIFT]);
        Ok(Usage {
            used_bytes: bytes,
            committed_bytes: bytes,
            ..Usage::default()
        })
    }

    /// Units in use that lie side by side are one part. The map does not tell how many blocks they are.
    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let usage = Self::usage(params, heap)?;
        let (units, unit_bytes) = (params[PARAM_UNITS], 16u64 << params[PARAM_SHIFT]);
        let mut regions = Vec::new();
        let mut part = vec![0u32; 1 << 16];
        let mut unit = 0;
        while unit < units {
            let words = map_words(units - unit).min(1 << 16) as usize;
            heap.read(MAP_WORD as u64 + (unit / 32) as u64, &mut part[..words])?;
            for word in &part[..words] {
                for bit in 0..(units - unit).min(32) {
                    let taken = word >> bit & 1;
                    let (none, run) = (RegionUse::Free, RegionUse::Run(unit_bytes));
                    let region = Region {
                        offset: params[PARAM_DATA] as u64 * 16 + (unit + bit) as u64 * unit_bytes,
                        bytes: unit_bytes,
                        usage: if taken == 1 { run } else { none },
                        units: 1,
                        places: taken,
                        live_blocks: None,
                        used_bytes: taken as u64 * unit_bytes,
                    };
                    HeapMap::join(&mut regions, region);
                }
                unit += (units - unit).min(32);
            }
        }
        Ok(HeapMap {
            unit: "unit",
            unit_bytes,
            usage,
            regions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_leaves_room_for_tables_and_units() {
        let config = RandomWalkMallocConfig::default();
        let sizes = (1..300u64).map(|i| i * 4096 + i % 256 * 16);
        for bytes in sizes.chain([8 << 20, 1 << 30, 8 << 30, (64 << 30) - 16]) {
            let Ok(plan) = RandomWalkMalloc::plan(bytes, &config) else {
                assert!(bytes < 2 * 4096, "{bytes} bytes are enough");
                continue;
            };
            let (data, units) = (
                plan.params[PARAM_DATA] as u64 * 16,
                plan.params[PARAM_UNITS],
            );
            let tables = Tables::new(units).end as u64 * 4;
            assert!(tables <= data && data + units as u64 * 256 <= bytes);
            assert!(plan.metadata_bytes <= tables + 4 * 256, "{plan:?}");
            assert!(plan.metadata_bytes <= bytes / 100 + 8192, "{plan:?}");
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for (change, name) in [
            (
                (|c| c.unit_bytes = 100) as fn(&mut RandomWalkMallocConfig),
                "unit_bytes",
            ),
            (|c| c.unit_bytes = 8192, "unit_bytes"),
            (|c| c.region_units = 0, "region_units"),
            (|c| c.region_units = 40, "region_units"),
            (|c| c.region_units = 4096, "region_units"),
        ] {
            let mut config = RandomWalkMallocConfig::default();
            change(&mut config);
            let error = RandomWalkMalloc::plan(1 << 24, &config).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
