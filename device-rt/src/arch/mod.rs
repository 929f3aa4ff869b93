//! The only place that knows the target.
//!
//! Each target's file gives the same small set: the memory of a heap ([`Words`]), where a lane is,
//! the warp's collective operations, fences, and the words that lanes may change at the same time
//! in slices. No file outside this folder has a `cfg(target_arch)`.
//!
//! Collective operations of a warp are methods of a [`Group`]; what they are made of is not reachable from
//! outside.
//!
//! [`block_barrier`] and [`block_broadcast`] are for all lanes of the block: *every* one of them must
//! reach the same call as often as the others, also those that have nothing else to do. A lane that
//! ended before does not count as there. The emulator checks this too.

#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
mod host;
#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
use host as target;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
#[cfg(target_arch = "nvptx64")]
use nvptx as target;
#[cfg(target_arch = "spirv")]
mod spirv;
#[cfg(target_arch = "spirv")]
use spirv as target;

mod calls;
mod group;
pub(crate) use calls::{where_all_of_rust, where_calls, where_calls_or_tests, where_no_calls};
pub use group::Group;

#[cfg(not(target_arch = "spirv"))]
mod addressed;
#[cfg(not(target_arch = "spirv"))]
pub use addressed::{elements, handle, heap_words, pointer, report, slice, slice_mut, slice_words};

#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
pub mod simt {
    //! What an emulator implements so that device code runs on the host.
    pub use super::host::memory::{Access, BlockEvent, Change, Fence, Site};
    pub use super::host::simt::{LaneInfo, LaneSlot, Simt, set_current};
    // The operations that groups are made of, for an emulator's own tests.
    pub use super::host::{active, ballot, match_any, shuffle, warp_barrier};
}

#[cfg(not(target_arch = "spirv"))]
use target::global;

#[cfg(target_arch = "spirv")]
pub use spirv::{UVec3, bounded, enters};
pub use target::{
    AtomicWord, BlockWords, HAS_DEVICE_HEAP, Words, acquire, block_barrier, block_broadcast,
    block_dim, block_index, caller_line, device_free, device_heap, device_heap_base, device_malloc,
    grid_dim, lane, moment, nanoseconds, processor, release, thread_index, ticks, warp_width,
};

#[cfg(target_arch = "nvptx64")]
pub use target::pause;
#[cfg(warpheap_alloc)]
pub use target::{end_lane, global_heap, panic_report};

/// Whether it is a device. In the emulator there are few steps between two looks, and few chunks.
pub const ON_DEVICE: bool = cfg!(any(target_arch = "nvptx64", target_arch = "spirv"));

/// Whether every call is inlined: what is called twice is compiled twice.
pub const INLINES_ALL: bool = cfg!(target_arch = "spirv");

/// Whether there is a clock that goes on for all lanes of the device: see [`moment`].
pub const HAS_CLOCK: bool = !cfg!(target_arch = "spirv");

/// Whether a panic ends its lane and no other.
pub const PANICS_END_LANES: bool = cfg!(warpheap_alloc) | !ON_DEVICE;

#[cfg(target_arch = "nvptx64")]
pub use target::{free_rarely, late, malloc_rarely};

/// A malloc of code that seldom needs one. Here as any other: all is inlined, or there are registers enough.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
#[track_caller]
pub fn malloc_rarely<A: warpheap_api::DeviceAlloc>(
    alloc: A,
    layout: warpheap_api::Layout,
) -> Result<warpheap_api::DevicePtr<u8>, warpheap_api::AllocError> {
    alloc.malloc(layout)
}

/// A free of code that seldom needs one. Here as any other.
///
/// # Safety
/// As [`DeviceAlloc::free`](warpheap_api::DeviceAlloc::free).
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
#[track_caller]
pub unsafe fn free_rarely<A: warpheap_api::DeviceAlloc>(
    alloc: A,
    ptr: warpheap_api::DevicePtr<u8>,
    layout: warpheap_api::Layout,
) {
    // SAFETY: the caller's promise.
    unsafe { alloc.free(ptr, layout) }
}

/// The same word. What is computed from the answer is computed here, and not before a loop in which few lanes come here.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub fn late(word: u32) -> u32 {
    word
}

/// Lets other lanes run for about this time, where the device can: here it cannot (Vulkan has no such instruction, and
/// the emulator schedules at every atomic).
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub fn pause(_nanoseconds: u32) {}
