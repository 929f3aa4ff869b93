//! [`Limited`] on the host: the inner allocator's heap under another kind, with a budget.

use crate::adaptor::Limited;
use crate::adaptor::limited::MOST_BUDGET;
use crate::arch::Words;
use warpheap_api::host::{
    Audit, BackendKind, DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError,
    Refill, TakeMistakes, Usage,
};
use warpheap_api::{DevicePtr, HeapParams, header};

/// What the number of a kind of heap has in addition where it is [`Limited`]'s.
pub const LIMITED_KIND: u32 = 0x1000;

/// Settings of a [`Limited`] heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitedConfig<C> {
    /// Those of the allocator within.
    pub inner: C,
    /// Bytes that all blocks may take together, as the allocator within rounds them: 16 bytes to 32 GiB, rounded down to a multiple
    /// of 16. `None`, the default, is no budget, and nothing is counted.
    pub budget: Option<u64>,
}

const GRANULE: u64 = DevicePtr::<u8>::GRANULE_BYTES as u64;

impl<C> LimitedConfig<C> {
    /// The budget in granules.
    fn granules(&self, allocator: &'static str) -> Result<Option<u32>, PlanError> {
        let Some(bytes) = self.budget else {
            return Ok(None);
        };
        match u32::try_from(bytes / GRANULE) {
            Ok(granules) if (1..=MOST_BUDGET).contains(&granules) => Ok(Some(granules)),
            _ => Err(PlanError::BadSetting {
                allocator,
                setting: "LimitedConfig::budget",
                value: bytes,
                why: "give 16 bytes to 32 GiB, or none for no budget",
            }),
        }
    }
}

/// A plan with the budget in it.
fn limited(mut plan: HeapPlan, budget: Option<u32>) -> HeapPlan {
    plan.fills.extend(budget.map(|granules| Fill {
        word: header::WORD_BUDGET as u64,
        words: 1,
        value: granules,
    }));
    plan
}

impl<A: HostAlloc<Memory = Words>> HostAlloc for Limited<A> {
    const KIND: u32 = A::KIND | LIMITED_KIND;
    const LEAST_BLOCK: u64 = A::LEAST_BLOCK;
    type Config = LimitedConfig<A::Config>;
    const ONLY_ON: Option<BackendKind> = A::ONLY_ON;
    const MISTAKES: Option<TakeMistakes> = A::MISTAKES;

    fn config_for(bytes: u32) -> Self::Config {
        LimitedConfig {
            inner: A::config_for(bytes),
            budget: None,
        }
    }

    fn largest_block(config: &Self::Config) -> u64 {
        let most = A::largest_block(&config.inner);
        config.budget.map_or(most, |budget| most.min(budget))
    }

    fn plan(bytes: u64, config: &Self::Config) -> Result<HeapPlan, PlanError> {
        let budget = config.granules(A::NAME)?;
        A::plan(bytes, &config.inner).map(|plan| limited(plan, budget))
    }

    fn plan_within(bytes: u64, most: u64, config: &Self::Config) -> Result<HeapPlan, PlanError> {
        let budget = config.granules(A::NAME)?;
        A::plan_within(bytes, most, &config.inner).map(|plan| limited(plan, budget))
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
