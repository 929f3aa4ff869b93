//! [`FdgMalloc`] on the host: the backing allocator's heap under another kind.

use crate::alloc::FdgMalloc;
use crate::alloc::fdg::{COUNTS_OPEN, pack_settings};
use crate::arch::Words;
use warpheap_api::host::{
    BackendKind, DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Pool,
    Refill, TakeMistakes, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams, header};

/// Settings of [`FdgMalloc`]; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FdgConfig<C> {
    /// Bytes of a super block: a multiple of 16 from 64 to 1 GiB; 0 for none, so that whatever lanes of a
    /// warp ask for together is one request to the backing allocator. Default 32 KiB.
    pub super_block_bytes: u32,
    /// Count open arenas, so that [`FdgMalloc::arenas`] tells of those that nobody ended: an addition for each
    /// start and each end, all on one word. Default false.
    pub count_open: bool,
    /// Settings of the backing allocator.
    pub backing: C,
}

impl<C: Default> Default for FdgConfig<C> {
    fn default() -> Self {
        FdgConfig {
            super_block_bytes: 32 << 10,
            count_open: false,
            backing: C::default(),
        }
    }
}

/// What a heap's header says of its arenas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaCounts {
    /// Arenas that were started and have not ended, those that were handed over included; `None` unless
    /// [`FdgConfig::count_open`] is set.
    pub open: Option<u32>,
    /// Calls of lanes that had no part in the arena they named.
    pub misuses: u32,
}

impl<B: HostAlloc<Memory = Words>> FdgMalloc<B> {
    /// How many arenas are open, and how often arenas were misused since the heap was fresh.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn arenas(pool: &Pool<Self>) -> Result<ArenaCounts, DeviceError> {
        let mut bytes = [0; 12];
        let first = header::WORD_ARENA_SETTINGS as u64 * 4;
        pool.raw().buffer.read(first, &mut bytes)?;
        let word = |at: usize| {
            let at = (at - header::WORD_ARENA_SETTINGS) * 4;
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let counts = word(header::WORD_ARENA_SETTINGS) & COUNTS_OPEN != 0;
        Ok(ArenaCounts {
            open: counts.then(|| word(header::WORD_ARENAS_OPEN)),
            misuses: word(header::WORD_ARENA_MISUSES),
        })
    }
}

impl<B: HostAlloc<Memory = Words>> HostAlloc for FdgMalloc<B> {
    const KIND: u32 = B::KIND | 0x200;
    type Config = FdgConfig<B::Config>;
    const ONLY_ON: Option<BackendKind> = B::ONLY_ON;
    const MISTAKES: Option<TakeMistakes> = B::MISTAKES;

    fn plan(bytes: u64, config: &Self::Config) -> Result<HeapPlan, PlanError> {
        with_settings::<B>(config, |backing| B::plan(bytes, backing))
    }

    fn plan_within(bytes: u64, most: u64, config: &Self::Config) -> Result<HeapPlan, PlanError> {
        with_settings::<B>(config, |backing| B::plan_within(bytes, most, backing))
    }

    fn refill(from: &HeapPlan, to: &HeapPlan) -> Refill {
        B::refill(from, to)
    }

    fn end_of_use(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        B::end_of_use(params, heap)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        B::usage(params, heap)
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        B::map(params, heap)
    }
}

/// The backing allocator's layout, with the settings of arenas.
fn with_settings<B: HostAlloc<Memory = Words>>(
    config: &FdgConfig<B::Config>,
    plan: impl FnOnce(&B::Config) -> Result<HeapPlan, PlanError>,
) -> Result<HeapPlan, PlanError> {
    let allocator = FdgMalloc::<B>::NAME;
    if B::GRANULE_SHIFT != 0 {
        return Err(PlanError::BadSetting {
            allocator,
            setting: "backing",
            value: 16 << B::GRANULE_SHIFT,
            why: "it divides its blocks by granules of 16 bytes: give it `WarpHeap`, in a pool of up to 64 GiB",
        });
    }
    let size = config.super_block_bytes;
    if size != 0 && (!(64..=1 << 30).contains(&size) || !size.is_multiple_of(16)) {
        return Err(PlanError::BadSetting {
            allocator,
            setting: "super_block_bytes",
            value: size as u64,
            why: "give a multiple of 16 from 64 to 1073741824, or 0 for none",
        });
    }
    let mut plan = plan(&config.backing)?;
    plan.fills.push(Fill {
        word: header::WORD_ARENA_SETTINGS as u64,
        words: 1,
        value: pack_settings(size / 16, config.count_open),
    });
    Ok(plan)
}
