//! [`Traced`] on the host: the inner allocator's heap with the adaptor's words behind it, the launches, and the events.

mod launches;
mod order;
mod take;
mod trace;

pub use take::trace_of;
pub use trace::{Trace, TraceCall, TraceEvent};

use super::CHECKED_KIND;
use crate::adaptor::Traced;
use crate::adaptor::traced::region::{
    BEGIN, CAPACITY, EVENT_WORDS, EVENTS, HEADS, LAUNCH_WORDS, MOST_LAUNCHES, RINGS, SETTINGS,
};
use crate::arch::Words;
use warpheap_api::HeapParams;
use warpheap_api::host::{
    Audit, BackendKind, DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError,
    TakeMistakes, Usage,
};

/// What the number of a kind of heap has in addition where it is [`Traced`]'s.
pub const TRACED_KIND: u32 = 0x2000;

/// Settings of a [`Traced`] heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedConfig<C> {
    /// Those of the allocator within.
    pub inner: C,
    /// Events that are kept until the host takes them, 32 to 2^28, rounded up to a multiple of 32. Each takes 16 bytes of the pool.
    /// The default is as many as fit into an eighth of the pool.
    pub events: Option<u64>,
}

/// The most events.
const MOST_EVENTS: u64 = 1 << 28;
/// Words of a region before its events.
const FIRST_EVENT: u32 = HEADS + MOST_LAUNCHES * LAUNCH_WORDS;

/// Events of a ring in a pool of so many bytes.
fn capacity<A: HostAlloc>(bytes: u64, config: &TracedConfig<A::Config>) -> Result<u64, PlanError> {
    let event = u64::from(EVENT_WORDS) * 4;
    let rings = u64::from(RINGS);
    match config.events {
        None => Ok((bytes / 8 / event).clamp(rings, MOST_EVENTS) / rings),
        Some(events) if (rings..=MOST_EVENTS).contains(&events) => Ok(events.div_ceil(rings)),
        Some(events) => Err(PlanError::BadSetting {
            allocator: A::NAME,
            setting: "TracedConfig::events",
            value: events,
            why: "give 32 to 2^28",
        }),
    }
}

/// Bytes of the adaptor, a multiple of a granule's.
fn region_bytes(capacity: u64) -> u64 {
    let events = capacity * u64::from(RINGS * EVENT_WORDS);
    (u64::from(FIRST_EVENT) + events + SETTINGS as u64) * 4
}

impl<A: HostAlloc<Memory = Words>> HostAlloc for Traced<A> {
    const KIND: u32 = A::KIND | TRACED_KIND;
    const LEAST_BLOCK: u64 = A::LEAST_BLOCK;
    type Config = TracedConfig<A::Config>;
    const ONLY_ON: Option<BackendKind> = A::ONLY_ON;
    const MISTAKES: Option<TakeMistakes> = Some(launches::ended::<A>);

    fn config_for(bytes: u32) -> Self::Config {
        TracedConfig {
            inner: A::config_for(bytes),
            events: None,
        }
    }

    fn largest_block(config: &Self::Config) -> u64 {
        A::largest_block(&config.inner)
    }

    fn plan(bytes: u64, config: &Self::Config) -> Result<HeapPlan, PlanError> {
        if A::KIND & CHECKED_KIND != 0 {
            return Err(PlanError::BadSetting {
                allocator: A::NAME,
                setting: "Traced",
                value: 1,
                why: "both adaptors have their words at the end of the pool: trace the heap, or check it (WARPHEAP_CHECK=1 does)",
            });
        }
        if A::GRANULE_SHIFT != 0 {
            return Err(PlanError::BadSetting {
                allocator: A::NAME,
                setting: "Traced",
                value: 1,
                why: "its events are found by granules of 16 bytes: trace `WarpHeap`, in a pool of up to 64 GiB",
            });
        }
        let capacity = capacity::<A>(bytes, config)?;
        let own = region_bytes(capacity);
        let too_small = |least: u64| PlanError::TooSmall {
            allocator: A::NAME,
            bytes,
            least: least + own,
        };
        let inner = bytes.saturating_sub(own).max(super::least_heap());
        let mut plan = A::plan(inner, &config.inner).map_err(|error| match error {
            PlanError::TooSmall { least, .. } => too_small(least),
            other => other,
        })?;
        if bytes < inner + own {
            return Err(too_small(inner));
        }
        plan.metadata_bytes += own;
        let begin = inner / 4;
        plan.fills.push(Fill {
            word: begin,
            words: own / 4,
            value: 0,
        });
        let settings = bytes / 4 - SETTINGS as u64;
        let words = [
            (BEGIN, (inner / 16) as u32),
            (CAPACITY, capacity as u32),
            (EVENTS, FIRST_EVENT),
        ];
        super::set_words(&mut plan, settings, &words);
        Ok(plan)
    }

    fn plan_within(_: u64, _: u64, _: &Self::Config) -> Result<HeapPlan, PlanError> {
        Err(PlanError::CannotGrow {
            allocator: "Traced",
        })
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
