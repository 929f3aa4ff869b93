//! [`Bump`] on the host.

use crate::alloc::Bump;
use crate::alloc::bump::{FIRST_GRANULE, MOST_GRANULES, PARAM_LIMIT, WORD_NEXT};
use std::vec::Vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Region, RegionUse,
    Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

impl HostAlloc for Bump {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = ();

    fn plan(bytes: u64, (): &()) -> Result<HeapPlan, PlanError> {
        let limit = (bytes / 16).min(MOST_GRANULES as u64) as u32;
        if limit <= FIRST_GRANULE {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: (FIRST_GRANULE as u64 + 1) * 16,
            });
        }
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_LIMIT] = limit;
        Ok(HeapPlan {
            params,
            fills: [Fill {
                word: WORD_NEXT as u64,
                words: 1,
                value: FIRST_GRANULE,
            }]
            .into(),
            metadata_bytes: FIRST_GRANULE as u64 * 16,
        })
    }

    /// The limit is all that follows from the size.
    fn plan_within(bytes: u64, _most: u64, (): &()) -> Result<HeapPlan, PlanError> {
        Self::plan(bytes, &())
    }

    fn end_of_use(_params: &HeapParams, heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        let mut next = [0];
        heap.read(WORD_NEXT as u64, &mut next)?;
        Ok(next[0].max(FIRST_GRANULE + 1) as u64 * 16)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        let mut next = [0];
        heap.read(WORD_NEXT as u64, &mut next)?;
        let used = next[0]
            .min(params[PARAM_LIMIT])
            .saturating_sub(FIRST_GRANULE) as u64
            * 16;
        Ok(Usage {
            used_bytes: used,
            committed_bytes: used,
            ..Usage::default()
        })
    }

    /// What was handed out, and what was not.
    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let usage = Self::usage(params, heap)?;
        let first = FIRST_GRANULE as u64 * 16;
        let (next, end) = (first + usage.used_bytes, params[PARAM_LIMIT] as u64 * 16);
        let part = |offset, end: u64, usage, used_bytes| Region {
            offset,
            bytes: end - offset,
            usage,
            units: ((end - offset) / 16) as u32,
            places: (used_bytes / 16) as u32,
            live_blocks: None,
            used_bytes,
        };
        let mut regions = Vec::new();
        if next > first {
            regions.push(part(first, next, RegionUse::Run(16), usage.used_bytes));
        }
        if end > next {
            regions.push(part(next, end, RegionUse::Free, 0));
        }
        Ok(HeapMap {
            unit: "granule",
            unit_bytes: 16,
            usage,
            regions,
        })
    }
}
