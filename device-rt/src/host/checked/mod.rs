//! [`Checked`] on the host: the inner allocator's heap with the adaptor's words behind it, what it found, and what is live.

mod chosen;
mod inspect;
mod told;
mod waiting;

pub use chosen::CheckSettings;
pub use inspect::{HeapInspection, LiveBlock};

use crate::adaptor::Checked;
use crate::adaptor::checked::{EXTRA_BYTES, region};
use crate::arch::Words;
use warpheap_api::host::{
    Audit, BackendKind, DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError,
    TakeMistakes, Usage,
};
use warpheap_api::{HeapParams, header};

/// What the number of a kind of heap has in addition where it is [`Checked`]'s.
pub const CHECKED_KIND: u32 = 0x800;

/// Settings of a [`Checked`] heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedConfig<C> {
    /// Those of the allocator within.
    pub inner: C,
    /// Freed blocks that wait at most before the allocator within gets them back, a power of two up to 2^20, or 0: none waits. The
    /// default is one for each 64 KiB of the pool, from 64 to 1024.
    ///
    /// Together they take an eighth of the pool at most: with `n` places, a block that takes more than an `8 n`-th of the pool does
    /// not wait. When the heap is full, all that waits is given back; not on Vulkan.
    pub waiting: Option<u32>,
    /// Bytes of each block that waits, from its first one on, that are filled with a pattern when it is freed, and looked at when it
    /// leaves: what is written there in between is found. Rounded up to 16; the default is 65,536. Fewer take less time, and 0 none.
    pub filled: Option<u32>,
}

/// Bytes that are filled unless a program says how many.
const FILLED_BYTES: u32 = 64 << 10;

/// The most places of a quarantine.
const MOST_PLACES: u32 = 1 << 20;

/// Places of the quarantine in a pool of so many bytes.
fn places<A: HostAlloc>(bytes: u64, config: &CheckedConfig<A::Config>) -> Result<u32, PlanError> {
    match config.waiting {
        None => Ok((bytes >> 16).clamp(64, 1024).next_power_of_two() as u32),
        Some(0) => Ok(0),
        Some(places) if places.is_power_of_two() && places <= MOST_PLACES => Ok(places),
        Some(places) => Err(PlanError::BadSetting {
            allocator: A::NAME,
            setting: "CheckedConfig::waiting",
            value: places.into(),
            why: "give a power of two up to 2^20, or 0",
        }),
    }
}

/// Words of the adaptor, a multiple of those of a granule.
fn region_words(places: u32) -> u64 {
    let places = u64::from(places).next_multiple_of(4);
    u64::from(region::REPORTS) + places + region::SETTINGS as u64
}

impl<A: HostAlloc<Memory = Words>, C: CheckSettings> HostAlloc for Checked<A, C> {
    const KIND: u32 = A::KIND | CHECKED_KIND;
    const LEAST_BLOCK: u64 = match A::LEAST_BLOCK < EXTRA_BYTES as u64 + 16 {
        true => EXTRA_BYTES as u64 + 16,
        false => A::LEAST_BLOCK,
    };
    type Config = C::Config<A::Config>;
    const ONLY_ON: Option<BackendKind> = A::ONLY_ON;
    const MISTAKES: Option<TakeMistakes> = Some(told::take);

    fn config_for(bytes: u32) -> Self::Config {
        C::around(A::config_for(
            bytes.next_multiple_of(16) + EXTRA_BYTES as u32,
        ))
    }

    fn largest_block(config: &Self::Config) -> u64 {
        let most = A::largest_block(&C::all(config).inner);
        most.saturating_sub(EXTRA_BYTES as u64) & !15
    }

    fn plan(bytes: u64, config: &Self::Config) -> Result<HeapPlan, PlanError> {
        let config = &C::all(config);
        if A::KIND & CHECKED_KIND != 0 {
            return Err(PlanError::BadSetting {
                allocator: A::NAME,
                setting: C::NAME,
                value: 1,
                why: "the allocator within finds mistakes already: name `Checked` once, and not where WARPHEAP_CHECK=1 chooses it",
            });
        }
        if A::ONLY_ON.is_some() {
            return Err(PlanError::BadSetting {
                allocator: A::NAME,
                setting: C::NAME,
                value: 1,
                why: "its blocks do not lie in the pool: check another allocator, or use compute-sanitizer",
            });
        }
        if A::GRANULE_SHIFT != 0 {
            return Err(PlanError::BadSetting {
                allocator: A::NAME,
                setting: C::NAME,
                value: 1,
                why: "its granules are larger than the 16 bytes that are written in front of a block: check `WarpHeap`, in a pool of up to 64 GiB",
            });
        }
        if A::KIND & super::TRACED_KIND != 0 {
            return Err(PlanError::BadSetting {
                allocator: A::NAME,
                setting: C::NAME,
                value: 1,
                why: "both adaptors have their words at the end of the pool: check the heap, or trace it",
            });
        }
        let places = places::<A>(bytes, config)?;
        let own = region_words(places) * 4;
        let too_small = |least: u64| PlanError::TooSmall {
            allocator: A::NAME,
            bytes,
            least: least + own,
        };
        let least = super::least_heap();
        let inner = bytes.saturating_sub(own);
        if inner < least {
            return Err(too_small(least));
        }
        let mut plan = A::plan(inner, &config.inner).map_err(|error| match error {
            PlanError::TooSmall { least, .. } => too_small(least),
            other => other,
        })?;
        plan.metadata_bytes += own;
        let first = header::HEADER_WORDS as u64;
        // Nothing of a heap that was here before is taken for a block.
        let clean = Fill {
            word: first,
            words: bytes / 4 - first,
            value: 0,
        };
        plan.fills.insert(0, clean);
        let settings = bytes / 4 - region::SETTINGS as u64;
        let largest = bytes / 16 / 8 / u64::from(places.max(1));
        let filled = config.filled.unwrap_or(FILLED_BYTES);
        let words = [
            (region::BEGIN, (inner / 16) as u32),
            (region::PLACES, places),
            (region::FILLED, filled.div_ceil(16)),
            (region::LARGEST, largest.min(u32::MAX.into()) as u32),
        ];
        super::set_words(&mut plan, settings, &words);
        super::set_words(&mut plan, 0, &[(header::WORD_POOL, (bytes / 16) as u32)]);
        Ok(plan)
    }

    fn plan_within(_: u64, _: u64, _: &Self::Config) -> Result<HeapPlan, PlanError> {
        Err(PlanError::CannotGrow { allocator: C::NAME })
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        let usage = A::usage(params, heap)?;
        match C::WAITING_IS_USED {
            true => Ok(usage),
            false => waiting::left_out(usage, heap),
        }
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
