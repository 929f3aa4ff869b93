//! What the host and all launches of a module share: which heap Rust's own collections use, and what was
//! reported of panics. Only in images that are linked with `alloc`.

use super::{Words, asm};
use warpheap_api::abi::{ARG_WORDS, ArgBlock, PANIC_WORDS};

/// As [`abi::GLOBAL_HEAP`](warpheap_api::abi::GLOBAL_HEAP) says.
#[unsafe(no_mangle)]
static mut warpheap_global_heap: ArgBlock = ArgBlock {
    words: [0; ARG_WORDS],
};

/// As [`abi::PANIC_REPORT`](warpheap_api::abi::PANIC_REPORT) says.
#[unsafe(no_mangle)]
static mut warpheap_panic_report: [u32; PANIC_WORDS] = [0; PANIC_WORDS];

/// The arguments of the heap that the host bound to the module, from word 0.
#[inline(always)]
pub fn global_heap() -> ArgBlock {
    // SAFETY: the host writes it between launches alone, and kernels do not.
    unsafe { (&raw const warpheap_global_heap).read() }
}

/// The report of panics.
#[inline(always)]
pub fn panic_report() -> Words {
    // SAFETY: it is there for as long as the module is, and accessed through such words alone.
    unsafe { Words::from_address(&raw mut warpheap_panic_report as u64, PANIC_WORDS as u64) }
}

/// Ends the calling lane alone; the others of its kernel go on. Destructors do not run.
#[inline(always)]
pub fn end_lane() -> ! {
    // SAFETY: as a return from the kernel, whatever the lane was doing.
    unsafe { asm!("exit;", options(noreturn, nostack)) }
}
