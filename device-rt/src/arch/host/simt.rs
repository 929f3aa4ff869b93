//! The interface between device code on the host and an emulator.

use core::panic::Location;
use std::cell::Cell;
use warpheap_api::LaneMask;

/// Where a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneInfo {
    /// Blocks of the launch.
    pub grid_dim: u32,
    /// Lanes of a block.
    pub block_dim: u32,
    /// Index of the block.
    pub block: u32,
    /// Index of the lane in its block.
    pub thread: u32,
    /// Index of the lane in its warp.
    pub lane: u32,
    /// Lanes of a full warp.
    pub width: u32,
    /// Which of the emulated multiprocessors runs the block.
    pub processor: u32,
}

/// What an emulator does for a lane. Calls come from inside the lane's fiber and may suspend
/// it; a call that must not return ends the lane by unwinding.
pub trait Simt {
    /// The lanes of the warp that are at this call, `site`, together with the calling one. An
    /// emulator may split those that could be together into any groups.
    fn active(&self, lane: &LaneInfo, site: &'static Location<'static>) -> LaneMask;
    /// For the lanes in `mask`: those whose `value` equals each lane's own.
    fn match_any(&self, lane: &LaneInfo, mask: LaneMask, value: u32) -> LaneMask;
    /// For the lanes in `mask`: those whose `vote` is true.
    fn ballot(&self, lane: &LaneInfo, mask: LaneMask, vote: bool) -> LaneMask;
    /// For the lanes in `mask`: the `value` of lane `source`.
    fn shuffle(&self, lane: &LaneInfo, mask: LaneMask, value: u32, source: u32) -> u32;
    /// Waits until all lanes in `mask` are here.
    fn barrier(&self, lane: &LaneInfo, mask: LaneMask);
    /// Waits until all lanes of the block are here.
    fn block_barrier(&self, lane: &LaneInfo);
    /// For all lanes of the block: the `value` of the one whose index in the block is `source`,
    /// which is the same for all.
    fn block_broadcast(&self, lane: &LaneInfo, value: u32, source: u32) -> u32;
    /// A point where other lanes may run: before every atomic operation and fence, if the lane's
    /// slot asks for it.
    fn schedule(&self, lane: &LaneInfo);
    /// The lane accessed `word` of a heap of `len` words at `base`, which has no such word. Must
    /// not return.
    fn outside(&self, lane: &LaneInfo, base: usize, word: usize, len: usize) -> !;
    /// A heap at `base` handed out a block of `bytes` bytes at byte `offset`. Only called if the
    /// slot asks for it.
    fn on_malloc(&self, lane: &LaneInfo, base: usize, offset: u64, bytes: u64);
    /// A block of a heap at `base`, at byte `offset`, is about to be freed. Only called if the
    /// slot asks for it.
    fn on_free(&self, lane: &LaneInfo, base: usize, offset: u64, bytes: u64);
    /// All blocks of a heap at `base` are freed at once. Only called if the slot asks for it.
    fn on_reset(&self, base: usize);
}

/// What a running lane needs at hand.
pub struct LaneSlot {
    /// Where the lane is.
    pub info: LaneInfo,
    /// Call [`Simt::schedule`] before every atomic operation.
    pub schedules: bool,
    /// Call [`Simt::on_malloc`], [`Simt::on_free`] and [`Simt::on_reset`].
    pub tracks_blocks: bool,
    /// The emulator.
    pub simt: *const dyn Simt,
}

thread_local! {
    static CURRENT: Cell<*const LaneSlot> = const { Cell::new(core::ptr::null()) };
}

/// Makes `slot` the lane that device code on this thread runs as, and returns the one before;
/// null for none.
///
/// # Safety
/// `slot` is null, or it and its `simt` stay valid until the next call on this thread.
pub unsafe fn set_current(slot: *const LaneSlot) -> *const LaneSlot {
    CURRENT.replace(slot)
}

/// The running lane, if an emulator runs it.
#[inline(always)]
pub(super) fn current<'a>() -> Option<&'a LaneSlot> {
    // SAFETY: set_current's caller keeps the slot valid while it is current; references made
    // here do not outlive the device call that they are made for.
    unsafe { CURRENT.get().as_ref() }
}

impl LaneSlot {
    #[inline(always)]
    pub(super) fn simt(&self) -> &dyn Simt {
        // SAFETY: set_current's caller keeps it valid.
        unsafe { &*self.simt }
    }
}
