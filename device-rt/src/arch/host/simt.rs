//! The interface between device code on the host and an emulator.

use std::cell::Cell;
use warpheap_api::LaneMask;

use super::memory::{Access, BlockEvent, Fence, Site};

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
    fn active(&self, lane: &LaneInfo, site: Site) -> LaneMask;
    /// For the lanes in `mask`: those whose `value` equals each lane's own.
    fn match_any(&self, lane: &LaneInfo, mask: LaneMask, value: u32) -> LaneMask;
    /// For the lanes in `mask`: those whose `vote` is true.
    fn ballot(&self, lane: &LaneInfo, mask: LaneMask, vote: bool) -> LaneMask;
    /// For the lanes in `mask`: the `value` of lane `source`.
    fn shuffle(&self, lane: &LaneInfo, mask: LaneMask, value: u32, source: u32) -> u32;
    /// Waits until all lanes in `mask` are here, and orders their accesses. As in the next four, [`LaneSlot::site`] says
    /// where the call stands.
    fn barrier(&self, lane: &LaneInfo, mask: LaneMask);
    /// Waits until all lanes of the block are here, and orders their accesses.
    fn block_barrier(&self, lane: &LaneInfo);
    /// For all lanes of the block: the `value` of the one whose index in the block is `source`,
    /// which is the same for all; orders as a barrier does.
    fn block_broadcast(&self, lane: &LaneInfo, value: u32, source: u32) -> u32;
    /// A point where other lanes may run: before every atomic operation and fence, if the lane's
    /// slot asks for it.
    fn schedule(&self, lane: &LaneInfo);
    /// The words of an array that the lanes of the block share while it runs, that of the kernel's parameter with this number:
    /// the same address for all lanes of the block. They hold anything when the block begins.
    fn block_memory(&self, lane: &LaneInfo, parameter: u32, words: usize) -> *mut u32;
    /// An access to an aligned word in memory: what is read, or was there before. Only called on threads that
    /// [model memory](LaneSlot::model_memory); then the emulator makes the access.
    ///
    /// # Safety
    /// `word` is valid for the launch, and nothing but this changes it meanwhile.
    unsafe fn access(
        &self,
        _lane: &LaneInfo,
        _word: *mut u32,
        _access: Access,
        _site: Site,
    ) -> u32 {
        0
    }
    /// A fence. Only called on threads that [model memory](LaneSlot::model_memory).
    fn fence(&self, _lane: &LaneInfo, _fence: Fence, _site: Site) {}
    /// The lane accessed `word` of a heap of `len` words at `base`, which has no such word. Must
    /// not return.
    fn outside(&self, lane: &LaneInfo, base: usize, word: usize, len: usize) -> !;
    /// Something happens to a block of a heap at `base`: its byte offset there, and its bytes. Only called if the slot asks
    /// for it.
    fn on_block(&self, lane: &LaneInfo, base: usize, block: (u64, u64), event: BlockEvent);
    /// All blocks of a heap at `base` are freed at once. Only called if the slot asks for it.
    fn on_reset(&self, base: usize);
    /// A lane asked for the address of `word` of a heap at `base`: what it does there is not seen. Only called on threads that
    /// [model memory](LaneSlot::model_memory).
    fn on_address(&self, _base: usize, _word: usize) {}
}

/// What a running lane needs at hand.
pub struct LaneSlot {
    /// Where the lane is.
    pub info: LaneInfo,
    /// Call [`Simt::schedule`] before every atomic operation.
    pub schedules: bool,
    /// Call [`Simt::on_block`] and [`Simt::on_reset`].
    pub tracks_blocks: bool,
    /// The emulator.
    pub simt: *const dyn Simt,
}

thread_local! {
    static CURRENT: Cell<*const LaneSlot> = const { Cell::new(core::ptr::null()) };
    /// Whether the emulator makes the accesses of this thread's lanes.
    static MODELS: Cell<bool> = const { Cell::new(false) };
    /// The last call that a model of memory wants to know the place of.
    static SITE: Cell<Option<Site>> = const { Cell::new(None) };
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
    /// Says whether the lanes of this thread call [`Simt::access`] and [`Simt::fence`]; what was so before. To be said
    /// before they begin.
    pub fn model_memory(models: bool) -> bool {
        MODELS.replace(models)
    }
    /// Where the device function was called that is being carried out, on threads that model memory.
    pub fn site() -> Option<Site> {
        SITE.get()
    }
    #[inline(always)]
    pub(super) fn models_memory(&self) -> bool {
        MODELS.get()
    }
    /// Notes where a device function was called, if anyone wants to know.
    #[inline(always)]
    pub(super) fn at(&self, site: Site) {
        if self.models_memory() {
            SITE.set(Some(site));
        }
    }
    #[inline(always)]
    pub(super) fn simt(&self) -> &dyn Simt {
        // SAFETY: set_current's caller keeps it valid.
        unsafe { &*self.simt }
    }
}
