//! [`Failing`] on the host: the inner allocator's heap under another kind, and when it refuses.

use crate::adaptor::Failing;
use crate::arch::Words;
use warpheap_api::host::{
    Audit, BackendKind, DeviceError, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Pool,
    Refill, TakeMistakes, Usage,
};
use warpheap_api::{HeapParams, header};

/// What the number of a kind of heap has in addition where it is [`Failing`]'s.
pub const FAILING_KIND: u32 = 0x400;

impl<A: HostAlloc<Memory = Words>> Failing<A> {
    /// From now on the `n`-th request is refused, counted from 1; 0 refuses none.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn refuse(pool: &Pool<Self>, n: u32) -> Result<(), DeviceError> {
        let at = header::WORD_REFUSE as u64 * 4;
        // SAFETY: a heap's own counters and settings, which its allocator reads so.
        unsafe { pool.raw().buffer.write(at, &n.to_ne_bytes()) }
    }
}

impl<A: HostAlloc<Memory = Words>> HostAlloc for Failing<A> {
    const KIND: u32 = A::KIND | FAILING_KIND;
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
