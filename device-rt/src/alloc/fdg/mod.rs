//! FDGMalloc: each warp has a heap of its own, which it gives back as a whole.
//!
//! Widmer, Wodniok, Weber, Goesele, *Fast Dynamic Memory Allocator for Massively Parallel Architectures*
//! (2013). The lanes of a warp share a *warp header* (§3.1). What they ask for together is laid side by
//! side in the warp's current *super block* (§3.3), which came from the backing allocator, any
//! `DeviceAlloc`; larger requests go there directly. A list of 126 entries, which continues in another one,
//! knows every block that came from there, so that a clean-up (§3.4) gives all of it back. A vote
//! chooses the lane that works for the others.
//!
//! | file | what |
//! |---|---|
//! | `header` | the words of a warp header; who has part in an arena |
//! | `list` | the list of super blocks |
//! | `place` | requests: prefix sums, super blocks, the backing allocator |
//! | `clean` | tidying up, ending, handing over |
//!
//! What differs from the paper: nothing relies on lanes of a warp running in lockstep, so the
//! counts that groups of lanes may meet on are added to atomically, and the lists say themselves how
//! many entries they have; tidying up keeps one super block rather than giving it back and asking for one;
//! entries know the size of their block; the first list lies behind the header; the lanes of the last call
//! of a clean-up free side by side; and calls of lanes that have no part in an arena are refused.

mod clean;
mod header;
mod list;
mod place;

pub(crate) use header::{COUNTS_OPEN, pack_settings};

use crate::arch::Words;
use warpheap_api::{
    AllocError, Arena, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapParams, LaneMask, Layout,
    WarpArena,
};

/// Arenas of warps over the allocator `B`, which serves all that is asked for outside of arenas.
#[derive(Clone, Copy)]
pub struct FdgMalloc<B> {
    backing: B,
}

impl<B: HeapHandle<Memory = Words>> HeapHandle for FdgMalloc<B> {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        FdgMalloc {
            // SAFETY: the caller's promise.
            backing: unsafe { B::attach(words, params) },
        }
    }
}

// SAFETY: every request goes to the backing allocator unchanged.
unsafe impl<B: DeviceAlloc<Memory = Words>> DeviceAlloc for FdgMalloc<B> {
    type Memory = Words;
    const NAME: &'static str = "FdgMalloc";
    const CAPS: Caps = B::CAPS;
    const LEAN_REGISTERS: u32 = B::LEAN_REGISTERS;

    #[inline(always)]
    fn memory(self) -> Words {
        self.backing.memory()
    }

    #[inline(always)]
    fn header(self) -> Words {
        self.backing.header()
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.backing.malloc(layout)
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.backing.free(ptr, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.backing.realloc(ptr, layout, new_size) }
    }

    /// Of what is asked for outside of arenas.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        self.backing.rounded(layout)
    }
}

// SAFETY: blocks lie in memory that the backing allocator gave and that is given back at clean-ups only, side
// by side by sums over lanes and one addition for each group of lanes.
unsafe impl<B: DeviceAlloc<Memory = Words>> WarpArena for FdgMalloc<B> {
    #[inline(always)]
    unsafe fn start(self) -> Result<Arena, AllocError> {
        self.open()
    }

    #[inline(always)]
    unsafe fn alloc(self, arena: Arena, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.place(arena, layout)
    }

    #[inline(always)]
    fn lanes(self, arena: Arena) -> LaneMask {
        self.members(arena)
    }

    #[inline(always)]
    unsafe fn tidy_up(self, arena: Arena) -> bool {
        self.leave(arena, clean::TIDY).last
    }

    #[inline(always)]
    unsafe fn end(self, arena: Arena) -> bool {
        self.leave(arena, clean::END).last
    }

    #[inline(always)]
    unsafe fn hand_over(self, arena: Arena) -> DevicePtr<u8> {
        let left = self.leave(arena, clean::HAND_OVER);
        DevicePtr::from_granule(warpheap_api::select(
            left.admitted,
            arena.ptr().granule(),
            u32::MAX,
        ))
    }

    #[inline(always)]
    unsafe fn take_over(self, handle: DevicePtr<u8>) -> Result<Arena, AllocError> {
        self.resume(handle)
    }
}

#[cfg(feature = "std")]
pub(crate) mod host;
