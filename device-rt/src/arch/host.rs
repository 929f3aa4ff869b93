//! The host: device code as ordinary functions, run by an emulator or by one lane alone.
//!
//! Everything that depends on other lanes goes to the [`simt::Simt`] of the running lane. Without
//! one, the calling thread is the only lane of a warp of width one.

pub mod memory;
mod shared;
pub mod simt;
mod words;

pub use shared::BlockWords;
pub use words::{AtomicWord, Words};

use core::panic::Location;
use core::sync::atomic::{Ordering, fence};
use memory::Fence;
use simt::{LaneInfo, current};
use std::sync::OnceLock;
use std::time::Instant;
use warpheap_api::LaneMask;

/// A lane that no emulator runs: alone in its warp.
const ALONE: LaneInfo = LaneInfo {
    grid_dim: 1,
    block_dim: 1,
    block: 0,
    thread: 0,
    lane: 0,
    width: 1,
    processor: 0,
};

#[inline(always)]
fn info() -> LaneInfo {
    current().map_or(ALONE, |slot| slot.info)
}

/// The line of source that called the caller, which says `#[track_caller]`.
#[inline(always)]
#[track_caller]
pub fn caller_line() -> u32 {
    Location::caller().line()
}

/// Index of the block.
#[inline(always)]
pub fn block_index() -> u32 {
    info().block
}

/// Index of the lane in its block.
#[inline(always)]
pub fn thread_index() -> u32 {
    info().thread
}

/// Lanes of a block.
#[inline(always)]
pub fn block_dim() -> u32 {
    info().block_dim
}

/// Blocks of the launch.
#[inline(always)]
pub fn grid_dim() -> u32 {
    info().grid_dim
}

/// Index of the lane in its warp.
#[inline(always)]
pub fn lane() -> u32 {
    info().lane
}

/// Lanes of a full warp.
#[inline(always)]
pub fn warp_width() -> u32 {
    info().width
}

/// A number that differs between blocks that run at the same time in different places: the
/// multiprocessor where it is known. A hint for scattering, nothing more.
#[inline(always)]
pub fn processor() -> u32 {
    info().processor
}

/// Whether masks that are known when the code is compiled make it faster. Not here; but what is done where they do is
/// tested here first.
pub const MASKS_COST: bool = true;

/// The lanes of the warp that are here together with the calling one.
#[inline(always)]
#[track_caller]
pub fn active() -> LaneMask {
    match current() {
        Some(slot) => slot.simt().active(&slot.info, Location::caller()),
        None => LaneMask::only(0),
    }
}

/// Those lanes of `mask` whose `vote` is true.
#[inline(always)]
pub fn ballot(mask: LaneMask, vote: bool) -> LaneMask {
    match current() {
        Some(slot) => slot.simt().ballot(&slot.info, mask, vote),
        None if vote => LaneMask::only(0),
        None => LaneMask::EMPTY,
    }
}

/// The `value` of lane `source`, which must be in `mask`.
#[inline(always)]
pub fn shuffle(mask: LaneMask, value: u32, source: u32) -> u32 {
    match current() {
        Some(slot) => slot.simt().shuffle(&slot.info, mask, value, source),
        None => value,
    }
}

/// Those lanes of `mask` whose `value` equals the calling lane's.
#[inline(always)]
pub fn match_any(mask: LaneMask, value: u32) -> LaneMask {
    match current() {
        Some(slot) => slot.simt().match_any(&slot.info, mask, value),
        None => LaneMask::only(0),
    }
}

/// Waits until all lanes of `mask` are here.
#[inline(always)]
#[track_caller]
pub fn warp_barrier(mask: LaneMask) {
    if let Some(slot) = current() {
        slot.at(Location::caller());
        slot.simt().barrier(&slot.info, mask);
    }
}

/// Waits until all lanes of the block are here; orders their memory accesses among themselves.
///
/// # Safety
/// As [the module](super) says, all lanes of the block reach the call.
#[inline(always)]
#[track_caller]
pub unsafe fn block_barrier() {
    if let Some(slot) = current() {
        slot.at(Location::caller());
        slot.simt().block_barrier(&slot.info);
    }
}

/// The `value` of the lane with index `source` in the block; all lanes of the block give the same
/// `source`.
///
/// # Safety
/// As [the module](super) says, all lanes of the block reach the call.
#[inline(always)]
#[track_caller]
pub unsafe fn block_broadcast(value: u32, source: u32) -> u32 {
    match current() {
        Some(slot) => {
            slot.at(Location::caller());
            slot.simt().block_broadcast(&slot.info, value, source)
        }
        None => value,
    }
}

/// Release fence at device scope.
#[inline(always)]
#[track_caller]
pub fn release() {
    if let Some(slot) = current() {
        if slot.schedules {
            slot.simt().schedule(&slot.info);
        }
        if slot.models_memory() {
            let site = Location::caller();
            slot.simt().fence(&slot.info, Fence::Release, site);
        }
    }
    fence(Ordering::Release);
}

/// Acquire fence at device scope.
#[inline(always)]
#[track_caller]
pub fn acquire() {
    if let Some(slot) = current()
        && slot.models_memory()
    {
        let site = Location::caller();
        slot.simt().fence(&slot.info, Fence::Acquire, site);
    }
    fence(Ordering::Acquire);
}

/// Whether the target has a heap of its own: it has none.
pub const HAS_DEVICE_HEAP: bool = false;

/// There is none.
#[inline(always)]
pub fn device_heap_base() -> u32 {
    0
}

/// There is none; the words of the pool.
#[inline(always)]
pub fn device_heap(pool: Words, _base: u32) -> Words {
    pool
}

/// There is none.
#[inline(always)]
pub fn device_malloc(_base: u32, _granules: u32) -> u32 {
    u32::MAX
}

/// There is none.
///
/// # Safety
/// Nothing came from [`device_malloc`], so this is not called.
#[inline(always)]
pub unsafe fn device_free(_base: u32, _granule: u32) {}

/// The clock, read once `known` is known: nanoseconds, see [`nanoseconds`].
#[inline(always)]
pub fn ticks(_known: u32) -> u32 {
    nanoseconds()
}

/// Nanoseconds since the first call of this process, the low word.
#[inline(always)]
pub fn nanoseconds() -> u32 {
    since_start() as u32
}

fn since_start() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The clock of [`nanoseconds`] in steps of 64 of them, the low word, which is enough for four minutes.
#[inline(always)]
pub fn moment() -> u32 {
    (since_start() >> 6) as u32
}

/// The pointer with this address.
#[inline(always)]
pub(super) fn global(address: u64) -> *mut u32 {
    address as usize as *mut u32
}
