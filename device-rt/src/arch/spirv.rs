//! Vulkan: SPIR-V through rust-gpu's code generator, without its standard library.
//!
//! Instructions that Rust has no word for are SPIR-V `asm!`. Where a lane is comes from built-in
//! variables that only an entry point can see, so entries store them in one private variable
//! ([`enters`]) from which everything else reads.

mod place;
mod shared;
mod subgroup;
mod words;

pub use place::{
    UVec3, block_dim, block_index, bounded, enters, grid_dim, lane, processor, thread_index,
    warp_width,
};
pub use shared::BlockWords;
pub use subgroup::{MASKS_COST, active, ballot, match_any, shuffle, warp_barrier};
pub use words::{AtomicWord, Words};

use core::arch::asm;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // Nothing can be reported; code that panics in a kernel does not exist in this library.
    loop {}
}

/// The line of source that called the caller: 0, since the code generator has no constants that point to others, as those of
/// `#[track_caller]` do.
#[inline(always)]
pub fn caller_line() -> u32 {
    0
}

/// Waits until all lanes of the block are here; orders their memory accesses among themselves.
///
/// # Safety
/// As [the module](super) says, all lanes of the block reach the call.
#[inline(always)]
pub unsafe fn block_barrier() {
    // AcquireRelease (0x8), UniformMemory (0x40), WorkgroupMemory (0x100), MakeAvailable (0x2000),
    // MakeVisible (0x4000).
    // SAFETY: all lanes of the block reach this call, as the module asks.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%workgroup = OpConstant %u32 2",
            "%semantics = OpConstant %u32 24904",
            "OpControlBarrier %workgroup %workgroup %semantics",
        );
    }
}

/// The word that the lanes of a block share. Not inlined while crates are compiled, so that the
/// variable is declared once.
#[inline(never)]
fn block_word() -> *mut u32 {
    let mut shape = 0u32;
    let pointer: *mut u32;
    // SAFETY: declares a variable of the type of `shape` and yields its address.
    unsafe {
        asm!(
            "{pointer} = OpVariable typeof{shape} Workgroup",
            shape = in(reg) &mut shape,
            pointer = out(reg) pointer,
        );
    }
    pointer
}

/// The `value` of the lane with index `source` in the block; all lanes of the block give the same
/// `source`.
///
/// # Safety
/// As [the module](super) says, all lanes of the block reach the call.
#[inline(always)]
pub unsafe fn block_broadcast(value: u32, source: u32) -> u32 {
    let answer: u32;
    let word = block_word();
    if thread_index() == source {
        // SAFETY: no other lane accesses the word before the next barrier.
        unsafe {
            asm!(
                "OpStore {word} {value} NonPrivatePointer",
                word = in(reg) word,
                value = in(reg) value,
            );
        }
    }
    // SAFETY: the caller's promise.
    unsafe { block_barrier() };
    // SAFETY: no lane writes the word between the two barriers.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "{answer} = OpLoad %u32 {word} NonPrivatePointer",
            word = in(reg) word,
            answer = out(reg) answer,
        );
    }
    // Before the next broadcast writes the word.
    // SAFETY: the caller's promise.
    unsafe { block_barrier() };
    answer
}

/// Release fence at device scope.
#[inline(always)]
pub fn release() {
    // Release (0x4), UniformMemory (0x40), MakeAvailable (0x2000); numbers in assembly are decimal.
    // SAFETY: a barrier for memory has no preconditions.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%device = OpConstant %u32 1",
            "%semantics = OpConstant %u32 8260",
            "OpMemoryBarrier %device %semantics",
        );
    }
}

/// Acquire fence at device scope.
#[inline(always)]
pub fn acquire() {
    // Acquire (0x2), UniformMemory (0x40), MakeVisible (0x4000).
    // SAFETY: a barrier for memory has no preconditions.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%device = OpConstant %u32 1",
            "%semantics = OpConstant %u32 16450",
            "OpMemoryBarrier %device %semantics",
        );
    }
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

/// No clock: one would need a capability that not all devices have, and a module that asks for it
/// loads on none of the others.
#[inline(always)]
pub fn ticks(_known: u32) -> u32 {
    0
}

/// No clock, see [`ticks`].
#[inline(always)]
pub fn nanoseconds() -> u32 {
    0
}

/// No clock, see [`ticks`].
#[inline(always)]
pub fn moment() -> u32 {
    0
}
