//! [`WideWarpHeap`] on the host: WarpHeap's heap of as many granules, in which every size is larger.

use super::WarpHeapConfig;
use crate::alloc::warp_heap::{WarpHeap, WideWarpHeap};
use warpheap_api::host::{
    Audit, DeviceError, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Refill, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// What the number of WarpHeap's kind has in addition where granules have 32 bytes; twice that for 64.
const WIDE_KIND: u32 = 0x4000;

/// Bytes of WarpHeap's own heap that a heap of so many stands on: as many granules.
fn within(bytes: u64, shift: u32) -> u64 {
    (bytes >> shift) & !15
}

/// Settings of WarpHeap's own heap. A chunk has as many granules as there.
fn settings(config: &WarpHeapConfig, shift: u32) -> Result<WarpHeapConfig, PlanError> {
    let Some(bytes) = config.chunk_bytes else {
        return Ok(config.clone());
    };
    let chunk_bytes = Some(bytes >> shift).filter(|&within| within << shift == bytes);
    match chunk_bytes {
        Some(_) => Ok(WarpHeapConfig { chunk_bytes }),
        None => Err(PlanError::BadSetting {
            allocator: WarpHeap::NAME,
            setting: "chunk_bytes",
            value: u64::from(bytes),
            why: "give a power of two",
        }),
    }
}

/// A plan in the bytes of the larger heap.
fn widened<A: HostAlloc>(
    bytes: u64,
    shift: u32,
    plan: Result<HeapPlan, PlanError>,
) -> Result<HeapPlan, PlanError> {
    match plan {
        // What of the bytes no granule of the heap within stands for is nobody's.
        Ok(plan) => {
            let blocks = within(bytes, shift) - plan.metadata_bytes;
            Ok(HeapPlan {
                metadata_bytes: bytes - (blocks << shift),
                ..plan
            })
        }
        Err(PlanError::TooSmall { least, .. }) => Err(PlanError::TooSmall {
            allocator: A::NAME,
            bytes,
            least: least << shift,
        }),
        Err(PlanError::BadSetting {
            setting,
            value,
            why,
            ..
        }) => Err(PlanError::BadSetting {
            allocator: A::NAME,
            setting,
            value: value << shift,
            why,
        }),
        Err(other) => Err(other),
    }
}

impl<const SHIFT: u32> HostAlloc for WideWarpHeap<SHIFT> {
    const KIND: u32 = WarpHeap::KIND | (WIDE_KIND * SHIFT);
    const LEAST_BLOCK: u64 = WarpHeap::LEAST_BLOCK << SHIFT;
    type Config = WarpHeapConfig;

    fn plan(bytes: u64, config: &WarpHeapConfig) -> Result<HeapPlan, PlanError> {
        let plan = settings(config, SHIFT)
            .and_then(|config| WarpHeap::plan(within(bytes, SHIFT), &config));
        widened::<Self>(bytes, SHIFT, plan)
    }

    fn plan_within(bytes: u64, most: u64, config: &WarpHeapConfig) -> Result<HeapPlan, PlanError> {
        let plan = settings(config, SHIFT).and_then(|config| {
            WarpHeap::plan_within(within(bytes, SHIFT), within(most, SHIFT), &config)
        });
        widened::<Self>(bytes, SHIFT, plan)
    }

    fn refill(from: &HeapPlan, to: &HeapPlan) -> Refill {
        WarpHeap::refill(from, to)
    }

    fn end_of_use(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        WarpHeap::end_of_use(params, heap).map(|bytes| bytes << SHIFT)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        WarpHeap::usage(params, heap).map(|usage| usage.times(1 << SHIFT))
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        WarpHeap::map(params, heap).map(|map| map.times(1 << SHIFT))
    }

    fn audit(
        params: &HeapParams,
        heap: &mut dyn HeapReader,
        found: &mut Audit,
    ) -> Result<(), DeviceError> {
        WarpHeap::audit(params, heap, found)
    }
}
