//! [`DirectOutput`] on the host.

use crate::alloc::DirectOutput;
use crate::alloc::direct::{LEAST_SHIFT, PARAM_DATA, PARAM_PLACES, PARAM_SHIFT, WORD_NEXT};
use std::vec::Vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Region, RegionUse,
    Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of [`DirectOutput`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectOutputConfig {
    /// Bytes of a place: a power of two from 32 to 65536. Default 64; the paper's join writes pages of 32 bytes
    /// to 2 KiB.
    pub place_bytes: u32,
}

impl Default for DirectOutputConfig {
    fn default() -> Self {
        DirectOutputConfig { place_bytes: 64 }
    }
}

impl HostAlloc for DirectOutput {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = DirectOutputConfig;

    fn config_for(bytes: u32) -> DirectOutputConfig {
        DirectOutputConfig {
            place_bytes: bytes.clamp(16 << LEAST_SHIFT, 1 << 16).next_power_of_two(),
        }
    }

    fn plan(bytes: u64, config: &DirectOutputConfig) -> Result<HeapPlan, PlanError> {
        let place = config.place_bytes;
        if !place.is_power_of_two() || !(16 << LEAST_SHIFT..=1 << 16).contains(&place) {
            return Err(PlanError::BadSetting {
                allocator: Self::NAME,
                setting: "place_bytes",
                value: place as u64,
                why: "give a power of two from 32 to 65536",
            });
        }
        let place = place as u64;
        let data = ((WORD_NEXT as u64 + 1) * 4).next_multiple_of(place);
        if bytes < data + place {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: data + place,
            });
        }
        let places = (bytes - data) / place;
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (data / 16) as u32;
        params[PARAM_PLACES] = places as u32;
        params[PARAM_SHIFT] = (place / 16).ilog2();
        Ok(HeapPlan {
            params,
            fills: [Fill {
                word: WORD_NEXT as u64,
                words: 1,
                value: 0,
            }]
            .into(),
            metadata_bytes: bytes - places * place,
        })
    }

    /// The number of places is all that follows from the size.
    fn plan_within(
        bytes: u64,
        _most: u64,
        config: &DirectOutputConfig,
    ) -> Result<HeapPlan, PlanError> {
        Self::plan(bytes, config)
    }

    fn end_of_use(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        let mut next = [0];
        heap.read(WORD_NEXT as u64, &mut next)?;
        let places = (next[0].max(1) as u64) << params[PARAM_SHIFT];
        Ok((params[PARAM_DATA] as u64 + places) * 16)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        let mut next = [0];
        heap.read(WORD_NEXT as u64, &mut next)?;
        let used = (next[0].min(params[PARAM_PLACES]) as u64 * 16) << params[PARAM_SHIFT];
        Ok(Usage {
            used_bytes: used,
            committed_bytes: used,
            ..Usage::default()
        })
    }

    /// The places that were handed out, and those that were not.
    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let usage = Self::usage(params, heap)?;
        let place = 16u64 << params[PARAM_SHIFT];
        let (given, all) = (usage.used_bytes / place, params[PARAM_PLACES] as u64);
        let part = |first: u64, end: u64, usage, live: u64| Region {
            offset: params[PARAM_DATA] as u64 * 16 + first * place,
            bytes: (end - first) * place,
            usage,
            units: (end - first) as u32,
            places: live as u32,
            live_blocks: Some(live as u32),
            used_bytes: live * place,
        };
        let mut regions = Vec::new();
        if given > 0 {
            regions.push(part(0, given, RegionUse::Run(place), given));
        }
        if all > given {
            regions.push(part(given, all, RegionUse::Free, 0));
        }
        Ok(HeapMap {
            unit: "place",
            unit_bytes: place,
            usage,
            regions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_out_of_range_are_named() {
        for place_bytes in [0, 16, 48, 1 << 17] {
            let error = DirectOutput::plan(1 << 20, &DirectOutputConfig { place_bytes });
            let error = error.map_err(|error| error.to_string());
            assert!(error.is_err_and(|text| text.contains("place_bytes")));
        }
    }
}
