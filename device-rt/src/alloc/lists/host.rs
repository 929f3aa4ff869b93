//! [`SizeList`](crate::alloc::SizeList) and [`MpList`](crate::alloc::MpList) on the host.

use crate::alloc::SegmentLists;
use crate::alloc::lists::{
    BINS_WORD, END, FIRST_WORD, LEAST_SHIFT, MOST_SHIFT, PARAM_DATA, PARAM_SETS, PARAM_SHIFT,
    PARAM_TABLE, PARAM_UNITS, SET_WORDS, TOP_WORD, is_free, size_of,
};
use std::vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Region, RegionUse,
    Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of [`SizeList`](crate::alloc::SizeList) and [`MpList`](crate::alloc::MpList).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListsConfig {
    /// Bytes of a unit: a power of two from 64 to 4096. Blocks are whole units, and two words of the table
    /// belong to each. Default 64.
    pub unit_bytes: u32,
    /// Sets of bins of `MpList`, 1 to 1024: as many as the device has multiprocessors. `SizeList` has one.
    /// Default 128.
    pub processors: u32,
}

impl Default for ListsConfig {
    fn default() -> Self {
        ListsConfig {
            unit_bytes: 64,
            processors: 128,
        }
    }
}

/// Words of the table that are read at a time.
const PART: usize = 1 << 14;

impl<const PER_PROCESSOR: bool> HostAlloc for SegmentLists<PER_PROCESSOR> {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = ListsConfig;

    fn plan(bytes: u64, config: &ListsConfig) -> Result<HeapPlan, PlanError> {
        let bad = |setting, value: u32, why| PlanError::BadSetting {
            allocator: Self::NAME,
            setting,
            value: value as u64,
            why,
        };
        let unit = config.unit_bytes;
        if !unit.is_power_of_two() || !(16 << LEAST_SHIFT..=16 << MOST_SHIFT).contains(&unit) {
            let why = "give a power of two from 64 to 4096";
            return Err(bad("unit_bytes", unit, why));
        }
        if !(1..=1024).contains(&config.processors) {
            return Err(bad("processors", config.processors, "give 1 to 1024"));
        }
        let unit = unit as u64;
        let sets = if PER_PROCESSOR { config.processors } else { 1 };
        let table = (BINS_WORD + sets as usize * SET_WORDS) as u64;
        let data = |units: u64| ((table + 2 * units) * 4).next_multiple_of(unit);
        // No more than have room beside their words in the table; rounding may cost a few.
        let mut units = bytes.saturating_sub(table * 4) / (unit + 8);
        while units > 0 && data(units) + units * unit > bytes {
            units -= 1;
        }
        if units == 0 {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: data(1) + unit,
            });
        }
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (data(units) / 16) as u32;
        params[PARAM_UNITS] = units as u32;
        params[PARAM_SHIFT] = (unit / 16).ilog2();
        params[PARAM_SETS] = sets;
        params[PARAM_TABLE] = table as u32;
        let first = FIRST_WORD as u64;
        Ok(HeapPlan {
            params,
            fills: vec![
                Fill {
                    word: first,
                    words: table + 2 * units - first,
                    value: 0,
                },
                Fill {
                    word: BINS_WORD as u64,
                    words: sets as u64 * SET_WORDS as u64,
                    value: END,
                },
            ],
            metadata_bytes: bytes - units * unit,
        })
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        look(params, heap, &mut |_| ())
    }

    /// Segments in use that lie side by side are one part: there may be millions of them.
    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let unit_bytes = 16 << params[PARAM_SHIFT];
        HeapMap::of("unit", unit_bytes, HeapMap::join, |show| {
            look(params, heap, show)
        })
    }
}

/// Goes from segment to segment, shows each and what lies behind the last, and sums up.
fn look(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    show: &mut dyn FnMut(Region),
) -> Result<Usage, DeviceError> {
    let mut top = [0];
    heap.read(TOP_WORD as u64, &mut top)?;
    let units = params[PARAM_UNITS] as u64;
    let unit_bytes = 16u64 << params[PARAM_SHIFT];
    let top = (top[0] as u64).min(units);
    let mut show = |unit: u64, size: u64, live: bool| {
        let bytes = size * unit_bytes;
        let run = RegionUse::Run(unit_bytes);
        show(Region {
            offset: params[PARAM_DATA] as u64 * 16 + unit * unit_bytes,
            bytes,
            usage: if live { run } else { RegionUse::Free },
            units: size as u32,
            places: if live { size as u32 } else { 0 },
            live_blocks: Some(live as u32),
            used_bytes: if live { bytes } else { 0 },
        });
    };
    let (mut used, mut live, mut unit, mut first, mut ready) = (0, 0, 0, 0, 0);
    let mut part = vec![0u32; PART.min(2 * units as usize)];
    while unit < top {
        if unit >= ready {
            let words = part.len().min(2 * (top - unit) as usize);
            heap.read(params[PARAM_TABLE] as u64 + 2 * unit, &mut part[..words])?;
            (first, ready) = (unit, unit + words as u64 / 2);
        }
        let state = part[2 * (unit - first) as usize];
        // Where a segment is being made, the words may say anything.
        let size = (size_of(state) as u64).min(top - unit);
        let in_use = size != 0 && !is_free(state);
        if in_use {
            used += size;
            live += 1;
        }
        show(unit, size.max(1), in_use);
        unit += size.max(1);
    }
    if top < units {
        show(top, units - top, false);
    }
    Ok(Usage {
        used_bytes: used * unit_bytes,
        committed_bytes: used * unit_bytes,
        live_blocks: Some(live),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::{MpList, SizeList};

    #[test]
    fn every_size_leaves_room_for_table_and_units() {
        let config = ListsConfig::default();
        for bytes in (1..400u64)
            .map(|i| (i * 1000) & !15)
            .chain([1 << 26, (64 << 30) - 16])
        {
            let Ok(plan) = SizeList::plan(bytes, &config) else {
                assert!(bytes < 3000, "{bytes} bytes are enough");
                continue;
            };
            let units = plan.params[PARAM_UNITS] as u64;
            let data = plan.params[PARAM_DATA] as u64 * 16;
            assert!((plan.params[PARAM_TABLE] as u64 + 2 * units) * 4 <= data);
            assert!(data + units * 64 <= bytes && bytes - data - units * 64 < 256);
            assert!(units <= 1 << 30, "sizes have 30 bits");
        }
    }

    #[test]
    fn whatever_the_words_hold_usage_is_within_the_pool() {
        struct Noise(u32);
        impl HeapReader for Noise {
            fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
                for (at, word) in (first as u32..).zip(words) {
                    *word = crate::sync::hash(at ^ self.0) >> (self.0 % 32);
                }
                Ok(())
            }
        }
        let plan = MpList::plan(1 << 20, &ListsConfig::default()).unwrap();
        for seed in 0..200 {
            let usage = MpList::usage(&plan.params, &mut Noise(seed)).unwrap();
            assert!(usage.used_bytes <= (1 << 20) - plan.metadata_bytes);
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for (unit_bytes, processors, name) in [
            (32, 1, "unit_bytes"),
            (96, 1, "unit_bytes"),
            (8192, 1, "unit_bytes"),
            (64, 0, "processors"),
            (64, 1025, "processors"),
        ] {
            let config = ListsConfig {
                unit_bytes,
                processors,
            };
            let error = MpList::plan(1 << 20, &config).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
