//! CUDA: PTX through rustc's own target.
//!
//! Warp operations are LLVM intrinsics, because they carry the mark `convergent` that keeps LLVM
//! from moving them across branches; inline PTX does not. Atomics are relaxed and of device scope,
//! and order is a fence. LLVM gives device scope to `fetch_…` and `swap`, but takes Rust's atomic
//! loads, stores and compare-and-swaps for ones of the whole system, so these are inline PTX.

#[cfg(warpheap_alloc)]
mod module;
#[cfg(feature = "raw")]
mod own_lane;
mod rare;
mod shared;
mod words;

#[cfg(warpheap_alloc)]
pub use module::{end_lane, global_heap, panic_report};
pub use rare::{free_rarely, late, malloc_rarely};
pub use shared::BlockWords;
pub use words::{AtomicWord, Words};

use core::arch::{asm, global_asm};
use warpheap_api::LaneMask;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.activemask"]
    fn nvvm_activemask() -> i32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn nvvm_ballot(mask: i32, vote: bool) -> i32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn nvvm_shfl(mask: i32, value: i32, source: i32, clamp: i32) -> i32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn nvvm_match_any(mask: i32, value: i32) -> i32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn nvvm_bar_warp(mask: i32);
    #[link_name = "llvm.nvvm.barrier.cta.sync.all"]
    fn nvvm_bar_block(barrier: i32);
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    fn nvvm_laneid() -> i32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.smid"]
    fn nvvm_smid() -> i32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    fn nvvm_tid() -> i32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    fn nvvm_ctaid() -> i32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    fn nvvm_ntid() -> i32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
    fn nvvm_nctaid() -> i32;
}

#[cfg(not(any(warpheap_alloc, feature = "raw")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: ends the kernel with an error that the host sees.
    unsafe { asm!("trap;", options(noreturn, nomem, nostack)) }
}

macro_rules! special_registers {
    ($($(#[$doc:meta])* $name:ident = $register:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: reading a special register has no preconditions.
            unsafe { $register() as u32 }
        }
    )*};
}

/// The line of source that called the caller, which says `#[track_caller]`; 0 in crates without `alloc`, which are compiled
/// without such places.
#[inline(always)]
#[track_caller]
pub fn caller_line() -> u32 {
    core::panic::Location::caller().line()
}

special_registers! {
    /// Index of the block.
    block_index = nvvm_ctaid;
    /// Index of the lane in its block.
    thread_index = nvvm_tid;
    /// Lanes of a block.
    block_dim = nvvm_ntid;
    /// Blocks of the launch.
    grid_dim = nvvm_nctaid;
    /// Index of the lane in its warp.
    lane = nvvm_laneid;
    /// The multiprocessor: a hint for scattering, nothing more.
    processor = nvvm_smid;
}

/// Lanes of a full warp.
#[inline(always)]
pub fn warp_width() -> u32 {
    32
}

#[inline(always)]
fn mask_of(lanes: i32) -> LaneMask {
    LaneMask {
        lo: lanes as u32,
        hi: 0,
    }
}

/// Whether masks that are known when the code is compiled make it faster: with others each collective operation
/// takes about four instructions more.
pub const MASKS_COST: bool = true;

/// The lanes of the warp that are here together with the calling one.
///
/// The assembler takes the mask of `activemask` for the same in all lanes of the warp. Where functions are called, and in
/// loops around several masks, it is not, and what keeps groups apart is left out. So the builder adds the lane's own bit to
/// it there, which is set anyway and makes it a number of the lane's. `docs/reports/ptxas-activemask.md`.
#[inline(always)]
pub fn active() -> LaneMask {
    // SAFETY: no preconditions.
    let lanes = unsafe { nvvm_activemask() };
    // There the builder does not see the code.
    #[cfg(feature = "raw")]
    let lanes = own_lane::with(lanes);
    mask_of(lanes)
}

/// Those lanes of `mask` whose `vote` is true.
#[inline(always)]
pub fn ballot(mask: LaneMask, vote: bool) -> LaneMask {
    // SAFETY: the lanes of the mask reach this call, as the module asks.
    mask_of(unsafe { nvvm_ballot(mask.lo as i32, vote) })
}

/// The `value` of lane `source`, which must be in `mask`.
#[inline(always)]
pub fn shuffle(mask: LaneMask, value: u32, source: u32) -> u32 {
    // SAFETY: the lanes of the mask reach this call, as the module asks.
    unsafe { nvvm_shfl(mask.lo as i32, value as i32, source as i32, 31) as u32 }
}

/// Those lanes of `mask` whose `value` equals the calling lane's.
#[inline(always)]
pub fn match_any(mask: LaneMask, value: u32) -> LaneMask {
    // SAFETY: the lanes of the mask reach this call, as the module asks.
    mask_of(unsafe { nvvm_match_any(mask.lo as i32, value as i32) })
}

/// Waits until all lanes of `mask` are here; orders their memory accesses among themselves.
#[inline(always)]
pub fn warp_barrier(mask: LaneMask) {
    // SAFETY: the lanes of the mask reach this call, as the module asks.
    unsafe { nvvm_bar_warp(mask.lo as i32) }
}

/// Waits until all lanes of the block are here; orders their memory accesses among themselves.
///
/// Not the aligned form of the instruction, which all lanes of a warp execute at the same place and at
/// the same time: lanes of a warp may arrive one after the other, and rustc's own optimisations, which
/// know of no `convergent`, copy calls into the branches before them.
///
/// # Safety
/// As [the module](super) says, all lanes of the block reach the call.
#[inline(always)]
pub unsafe fn block_barrier() {
    // SAFETY: all lanes of the block reach this call, as the module asks.
    unsafe { nvvm_bar_block(0) }
}

// Rust has no word for shared memory. One word for each block, whatever kernel it runs.
global_asm!(".shared .align 4 .b32 warpheap_block_word;");

/// The `value` of the lane with index `source` in the block; all lanes of the block give the same
/// `source`.
///
/// # Safety
/// As [the module](super) says, all lanes of the block reach the call.
#[inline(always)]
pub unsafe fn block_broadcast(value: u32, source: u32) -> u32 {
    let answer: u32;
    if thread_index() == source {
        // SAFETY: the word is there for as long as the block is; no other lane accesses it before
        // the next barrier.
        unsafe {
            asm!(
                "st.shared.u32 [warpheap_block_word], {value};",
                value = in(reg32) value,
                options(nostack),
            );
        }
    }
    // SAFETY: the caller's promise.
    unsafe { block_barrier() };
    // SAFETY: no lane writes the word between the two barriers.
    unsafe {
        asm!(
            "ld.shared.u32 {answer}, [warpheap_block_word];",
            answer = out(reg32) answer,
            options(nostack),
        );
    }
    // Before the next broadcast writes the word.
    // SAFETY: the caller's promise.
    unsafe { block_barrier() };
    answer
}

/// Release fence at device scope. By the comment, which stays in the PTX, the loader knows that it need not
/// acquire.
#[inline(always)]
pub fn release() {
    // SAFETY: a fence has no preconditions; not `nomem`, so the compiler keeps accesses in place.
    unsafe { asm!("fence.acq_rel.gpu; /*release*/", options(nostack)) }
}

/// Acquire fence at device scope. By the comment, which stays in the PTX, the loader knows that it need not
/// release.
#[inline(always)]
pub fn acquire() {
    // SAFETY: as in `release`.
    unsafe { asm!("fence.acq_rel.gpu; /*acquire*/", options(nostack)) }
}

/// Lets other lanes run for about this time, where the device can. For loops that wait for a word: looks without
/// a pause keep those away who would change it.
#[inline(always)]
pub fn pause(nanoseconds: u32) {
    // SAFETY: no preconditions.
    unsafe { asm!("nanosleep.u32 {time};", time = in(reg32) nanoseconds, options(nostack)) };
}

/// The multiprocessor's clock, the low word, read once `known` is known: it goes on by one each cycle,
/// and is not that of another multiprocessor.
#[inline(always)]
pub fn ticks(known: u32) -> u32 {
    let ticks: u32;
    // An instruction that looks at the value waits until it is there; the clock alone would not. No
    // value makes the lane sleep for any time.
    // SAFETY: no preconditions; not `pure`, so the compiler keeps it in order with other assembly.
    unsafe {
        asm!(
            "{{ .reg .pred %known; setp.eq.u32 %known, {known}, 0; @%known nanosleep.u32 0; }}",
            "mov.u32 {ticks}, %clock;",
            known = in(reg32) known,
            ticks = out(reg32) ticks,
            options(nostack),
        );
    }
    ticks
}

/// The device's clock in nanoseconds, the low word. It moves in steps of up to a microsecond.
#[inline(always)]
pub fn nanoseconds() -> u32 {
    let nanos: u32;
    // SAFETY: as in `ticks`.
    unsafe {
        asm!("mov.u32 {nanos}, %globaltimer_lo;", nanos = out(reg32) nanos, options(nostack))
    };
    nanos
}

/// The device's clock in steps of 64 nanoseconds, the low word, which is enough for four minutes.
#[inline(always)]
pub fn moment() -> u32 {
    let nanos: u64;
    // SAFETY: as in `ticks`.
    unsafe { asm!("mov.u64 {nanos}, %globaltimer;", nanos = out(reg64) nanos, options(nostack)) };
    (nanos >> 6) as u32
}

unsafe extern "C" {
    fn malloc(bytes: u64) -> u64;
    fn free(address: u64);
}

/// Bytes of CUDA's own heap that handles reach from its base on.
const WINDOW_BYTES: u64 = (u32::MAX as u64) * 16;

/// Whether the target has a heap of its own, from which [`device_malloc`] takes.
pub const HAS_DEVICE_HEAP: bool = true;

/// Where handles of CUDA's own heap count from, in units of 64 KiB: half their reach below a block of it.
/// Zero if it has no block.
pub fn device_heap_base() -> u32 {
    // SAFETY: any size may be asked for.
    let address = unsafe { malloc(16) };
    // SAFETY: what malloc returned, or zero, which is ignored.
    unsafe { free(address) };
    // Addresses have 48 bits.
    let place = (address >> 16) as u32;
    let half = (WINDOW_BYTES >> 17) as u32;
    if place > half {
        place - half
    } else {
        (address != 0) as u32
    }
}

/// The words that handles of CUDA's own heap with this base reach.
#[inline(always)]
pub fn device_heap(_pool: Words, base: u32) -> Words {
    // SAFETY: handles are of blocks that the heap gave, in its memory, aligned to 16 bytes.
    unsafe { Words::from_address((base as u64) << 16, WINDOW_BYTES / 4) }
}

/// So many granules of CUDA's own heap: the first, counted from `base`; `u32::MAX` if it has none, or none
/// that a handle reaches.
pub fn device_malloc(base: u32, granules: u32) -> u32 {
    // SAFETY: any size may be asked for.
    let address = unsafe { malloc(granules as u64 * 16) };
    let offset = address.wrapping_sub((base as u64) << 16);
    if address != 0 && offset < WINDOW_BYTES {
        (offset / 16) as u32
    } else {
        // SAFETY: what malloc returned, or zero, which is ignored.
        unsafe { free(address) };
        u32::MAX
    }
}

/// Gives them back.
///
/// # Safety
/// `granule` came from [`device_malloc`] with this `base` and is freed once.
pub unsafe fn device_free(base: u32, granule: u32) {
    // SAFETY: the caller's promise.
    unsafe { free(((base as u64) << 16) + granule as u64 * 16) }
}

/// The pointer with this address of global memory, which generic addresses name by the same number.
#[inline(always)]
pub(super) fn global(address: u64) -> *mut u32 {
    address as *mut u32
}
