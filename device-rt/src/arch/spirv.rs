//! Vulkan: SPIR-V through rust-gpu's code generator, without its standard library.
//!
//! Instructions that Rust has no word for are SPIR-V `asm!`. Where a lane is comes from built-in
//! variables that only an entry point can see, so entries store them in one private variable
//! ([`enters`]) from which everything else reads.

mod words;

pub use words::{AtomicWord, Words};

use core::arch::asm;
use warpheap_api::LaneMask;
use warpheap_api::abi::{self, ArgBlock};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // Nothing can be reported; code that panics in a kernel does not exist in this library.
    loop {}
}

/// A vector of three words, as built-in variables are.
#[derive(Clone, Copy)]
#[rust_gpu::vector::v1]
pub struct UVec3 {
    /// First component.
    pub x: u32,
    /// Second component.
    pub y: u32,
    /// Third component.
    pub z: u32,
}

#[derive(Clone, Copy)]
#[rust_gpu::vector::v1]
struct UVec4 {
    x: u32,
    y: u32,
    z: u32,
    w: u32,
}

const BLOCK: usize = 0;
const THREAD: usize = 1;
const BLOCK_DIM: usize = 2;
const GRID_DIM: usize = 3;
const LANE: usize = 4;
const WIDTH: usize = 5;

/// The private variable that knows where the lane is. Not inlined while crates are compiled, so
/// that the variable is declared once.
#[inline(never)]
fn place() -> *mut [u32; 6] {
    let mut shape = [0u32; 6];
    let pointer: *mut [u32; 6];
    // SAFETY: declares a variable of the type of `shape` and yields its address.
    unsafe {
        asm!(
            "{pointer} = OpVariable typeof{shape} Private",
            shape = in(reg) &mut shape,
            pointer = out(reg) pointer,
        );
    }
    pointer
}

/// Stores where the lane is: an entry's first act. False if the lane's block is beyond the launch,
/// which happens where a launch of many blocks was folded into a second dimension; then the entry
/// returns at once.
#[inline(always)]
pub fn enters(
    args: &ArgBlock,
    workgroup: UVec3,
    workgroups: UVec3,
    thread: u32,
    lane: u32,
    width: u32,
) -> bool {
    let block = workgroup.y * workgroups.x + workgroup.x;
    let grid_dim = args.words[abi::ARG_GRID_DIM];
    let place = place();
    // SAFETY: a private variable belongs to this invocation alone.
    unsafe {
        (*place)[BLOCK] = block;
        (*place)[THREAD] = thread;
        (*place)[BLOCK_DIM] = args.words[abi::ARG_BLOCK_DIM];
        (*place)[GRID_DIM] = grid_dim;
        (*place)[LANE] = lane;
        (*place)[WIDTH] = width;
    }
    block < grid_dim
}

/// What a slice consists of. Only the two conversions from and to a slice in one function fold to
/// nothing; indexing with a range computes an address that the compiler cannot make a slice of.
struct Parts {
    base: *mut (),
    len: usize,
}

/// The first elements of a bound buffer, as many as the arguments at `at` say: an empty slice is
/// bound to a buffer that is not empty.
#[inline(always)]
pub fn bounded<'a, T>(buffer: &'a mut [T], args: &ArgBlock, at: usize) -> &'a mut [T] {
    let len = args.words[at + 2] as usize;
    // SAFETY: a slice is its address and its length.
    let whole: Parts = unsafe { core::mem::transmute(buffer) };
    let part = Parts {
        base: whole.base,
        len,
    };
    // SAFETY: the host bound a buffer of at least this length.
    unsafe { core::mem::transmute(part) }
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident = $index:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: a private variable belongs to this invocation alone.
            unsafe { (*place())[$index] }
        }
    )*};
}

places! {
    /// Index of the block.
    block_index = BLOCK;
    /// Index of the lane in its block.
    thread_index = THREAD;
    /// Lanes of a block.
    block_dim = BLOCK_DIM;
    /// Blocks of the launch.
    grid_dim = GRID_DIM;
    /// Index of the lane in its warp.
    lane = LANE;
    /// Lanes of a full warp.
    warp_width = WIDTH;
}

/// A number that differs between blocks: Vulkan does not tell the multiprocessor. A hint for
/// scattering, nothing more.
#[inline(always)]
pub fn processor() -> u32 {
    block_index()
}

/// Whether masks that are known when the code is compiled make it faster: the device takes whichever lanes are there.
pub const MASKS_COST: bool = false;

/// The lanes of the warp that are here together with the calling one.
#[inline(always)]
pub fn active() -> LaneMask {
    ballot_word(1)
}

/// Those lanes of `mask` whose `vote` is true.
#[inline(always)]
pub fn ballot(_mask: LaneMask, vote: bool) -> LaneMask {
    ballot_word(vote as u32)
}

#[inline(always)]
fn ballot_word(vote: u32) -> LaneMask {
    let mut lanes = UVec4 {
        x: 0,
        y: 0,
        z: 0,
        w: 0,
    };
    // SAFETY: a ballot has no preconditions.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%bool = OpTypeBool",
            "%zero = OpConstant %u32 0",
            "%subgroup = OpConstant %u32 3",
            "%vote = OpINotEqual %bool {vote} %zero",
            "%lanes = OpGroupNonUniformBallot typeof*{lanes} %subgroup %vote",
            "OpStore {lanes} %lanes",
            vote = in(reg) vote,
            lanes = in(reg) &mut lanes,
        );
    }
    LaneMask {
        lo: lanes.x,
        hi: lanes.y,
    }
}

/// The `value` of lane `source`, which must be in `mask`.
#[inline(always)]
pub fn shuffle(_mask: LaneMask, value: u32, source: u32) -> u32 {
    let result: u32;
    // SAFETY: the source lane is active, as the module asks.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%subgroup = OpConstant %u32 3",
            "{result} = OpGroupNonUniformShuffle %u32 %subgroup {value} {source}",
            value = in(reg) value,
            source = in(reg) source,
            result = out(reg) result,
        );
    }
    result
}

/// Those lanes of `mask` whose `value` equals the calling lane's.
///
/// There is no instruction for it, except where all lanes have the same value: one round for each
/// different value, the same for all lanes.
#[inline(always)]
pub fn match_any(mask: LaneMask, value: u32) -> LaneMask {
    let mut left = if all_equal(value) {
        LaneMask::EMPTY
    } else {
        mask
    };
    let mut mine = mask;
    while !left.is_empty() {
        let first = left.first();
        let same = value == shuffle(mask, value, first);
        let lanes = ballot(mask, same);
        if same {
            mine = lanes;
        }
        left = left.without(lanes).without(LaneMask::only(first));
    }
    mine
}

/// Whether all lanes that are here have the same `value`.
#[inline(always)]
fn all_equal(value: u32) -> bool {
    let result: u32;
    // SAFETY: a vote has no preconditions.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%bool = OpTypeBool",
            "%zero = OpConstant %u32 0",
            "%one = OpConstant %u32 1",
            "%subgroup = OpConstant %u32 3",
            "%equal = OpGroupNonUniformAllEqual %bool %subgroup {value}",
            "{result} = OpSelect %u32 %equal %one %zero",
            value = in(reg) value,
            result = out(reg) result,
        );
    }
    result != 0
}

/// Orders the memory accesses of the warp's lanes among themselves.
#[inline(always)]
pub fn warp_barrier(_mask: LaneMask) {
    // SAFETY: a barrier for memory has no preconditions.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%subgroup = OpConstant %u32 3",
            "%semantics = OpConstant %u32 24648",
            "OpMemoryBarrier %subgroup %semantics",
        );
    }
}

/// Waits until all lanes of the block are here; orders their memory accesses among themselves.
#[inline(always)]
pub fn block_barrier() {
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
#[inline(always)]
pub fn block_broadcast(value: u32, source: u32) -> u32 {
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
    block_barrier();
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
    block_barrier();
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
