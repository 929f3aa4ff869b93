//! [`Ouroboros`] on the host.

mod audit;
mod config;
mod enlarge;
mod layout;
mod usage;

pub use config::OuroborosConfig;

use crate::alloc::ouroboros::{Queue, Strategy};
use crate::alloc::{Ouroboros, OuroborosMixed};
use audit::audit;
use layout::Beside;
use usage::{map, usage};
use warpheap_allocators::kind_of;
use warpheap_api::host::{
    Audit, DeviceError, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    fn beside() -> Beside {
        match (Q::VIRTUAL, Q::INDEX) {
            (false, _) => Beside::Entries,
            (true, 1) => Beside::ChunkNumbers,
            _ => Beside::Nothing,
        }
    }
}

impl<S: Strategy, Q: Queue> HostAlloc for Ouroboros<S, Q> {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = OuroborosConfig;

    fn plan(bytes: u64, config: &OuroborosConfig) -> Result<HeapPlan, PlanError> {
        let base = Self::beside();
        config.plan(Self::NAME, bytes, base, base)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        usage(params, heap, S::PAGES, S::PAGES, &mut |_| ())
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        map(params, heap, S::PAGES, S::PAGES)
    }

    fn audit(
        params: &HeapParams,
        heap: &mut dyn HeapReader,
        found: &mut Audit,
    ) -> Result<(), DeviceError> {
        audit(params, heap, [S::PAGES, S::PAGES], found)
    }
}

impl<S1, Q1, S2, Q2> HostAlloc for OuroborosMixed<Ouroboros<S1, Q1>, Ouroboros<S2, Q2>>
where
    S1: Strategy,
    Q1: Queue,
    S2: Strategy,
    Q2: Queue,
{
    const KIND: u32 = kind_of(Self::NAME);
    type Config = OuroborosConfig;

    fn plan(bytes: u64, config: &OuroborosConfig) -> Result<HeapPlan, PlanError> {
        let (small, large) = (Ouroboros::<S1, Q1>::beside(), Ouroboros::<S2, Q2>::beside());
        config.plan(Self::NAME, bytes, small, large)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        usage(params, heap, S1::PAGES, S2::PAGES, &mut |_| ())
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        map(params, heap, S1::PAGES, S2::PAGES)
    }

    fn audit(
        params: &HeapParams,
        heap: &mut dyn HeapReader,
        found: &mut Audit,
    ) -> Result<(), DeviceError> {
        audit(params, heap, [S1::PAGES, S2::PAGES], found)
    }
}
