//! Kernel arguments on targets whose memory has addresses: CUDA and host.

use super::{Words, global};
use warpheap_api::HeapData;
use warpheap_api::abi::{self, ArgBlock};

#[inline(always)]
fn wide(args: &ArgBlock, at: usize) -> u64 {
    args.words[at] as u64 | (args.words[at + 1] as u64) << 32
}

/// The words of the heap whose arguments begin at `at`.
///
/// # Safety
/// The arguments describe memory that is valid for the launch.
#[inline(always)]
pub unsafe fn heap_words(args: &ArgBlock, at: usize) -> Words {
    // SAFETY: the caller's promise.
    unsafe { Words::from_address(wide(args, at), wide(args, at + 2)) }
}

/// The launch report.
///
/// # Safety
/// As [`heap_words`].
#[inline(always)]
pub unsafe fn report(args: &ArgBlock) -> Words {
    // SAFETY: the caller's promise.
    unsafe { Words::from_address(wide(args, abi::ARG_REPORT), abi::REPORT_WORDS as u64) }
}

/// The slice whose arguments begin at `at`.
///
/// # Safety
/// The arguments describe `T`s that are valid for the launch and that no lane writes through
/// anything but atomic words.
#[inline(always)]
pub unsafe fn slice<'a, T>(args: &ArgBlock, at: usize) -> &'a [T] {
    let first = global(wide(args, at)).cast();
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(first, args.words[at + 2] as usize) }
}

/// The slice whose arguments begin at `at`, to be written: each element by one lane.
///
/// # Safety
/// The arguments describe `T`s that are valid for the launch.
#[inline(always)]
pub unsafe fn slice_mut<'a, T: HeapData>(args: &ArgBlock, at: usize) -> &'a mut [T] {
    let first = global(wide(args, at)).cast();
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts_mut(first, args.words[at + 2] as usize) }
}
