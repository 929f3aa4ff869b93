//! [`Counted`] on the host: the inner allocator's heap under another kind.

use crate::adaptor::Counted;
use crate::arch::Words;
use warpheap_api::HeapParams;
use warpheap_api::host::{
    Audit, BackendKind, DeviceError, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Refill,
    TakeMistakes, Usage,
};

impl<A: HostAlloc<Memory = Words>> HostAlloc for Counted<A> {
    const KIND: u32 = A::KIND | 0x100;
    const LEAST_BLOCK: u64 = A::LEAST_BLOCK;
    type Config = A::Config;
    const ONLY_ON: Option<BackendKind> = A::ONLY_ON;
    const MISTAKES: Option<TakeMistakes> = A::MISTAKES;

    fn config_for(bytes: u32) -> A::Config {
        A::config_for(bytes)
    }

    fn largest_block(config: &A::Config) -> u64 {
        A::largest_block(config)
    }

    fn plan(bytes: u64, config: &A::Config) -> Result<HeapPlan, PlanError> {
        A::plan(bytes, config)
    }

    fn plan_within(bytes: u64, most: u64, config: &A::Config) -> Result<HeapPlan, PlanError> {
        A::plan_within(bytes, most, config)
    }

    fn refill(from: &HeapPlan, to: &HeapPlan) -> Refill {
        A::refill(from, to)
    }

    fn end_of_use(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        A::end_of_use(params, heap)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        A::usage(params, heap)
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        A::map(params, heap)
    }

    fn audit(
        params: &HeapParams,
        heap: &mut dyn HeapReader,
        found: &mut Audit,
    ) -> Result<(), DeviceError> {
        A::audit(params, heap, found)
    }
}
