//! Kernel arguments, and the addresses of blocks, on targets whose memory has addresses: CUDA and host.

use super::{Words, global};
use warpheap_api::abi::{self, ArgBlock};
use warpheap_api::{DevicePtr, Element, HeapMemory};

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

/// The words of the slice whose arguments begin at `at`.
///
/// # Safety
/// As [`heap_words`], and they are reached through such words alone.
#[inline(always)]
pub unsafe fn slice_words(args: &ArgBlock, at: usize) -> Words {
    // SAFETY: the caller's promise.
    unsafe { Words::from_address(wide(args, at), args.words[at + 2] as u64) }
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
pub unsafe fn slice_mut<'a, T: Element>(args: &ArgBlock, at: usize) -> &'a mut [T] {
    let first = global(wide(args, at)).cast();
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts_mut(first, args.words[at + 2] as usize) }
}

/// The elements of the slice whose arguments begin at `at`, for who accesses them one by one.
#[inline(always)]
pub fn elements<T: Element>(args: &ArgBlock, at: usize) -> *mut [T] {
    let first = global(wide(args, at)).cast();
    core::ptr::slice_from_raw_parts_mut(first, args.words[at + 2] as usize)
}

/// The address of the memory behind a handle that is not null.
#[inline(always)]
pub fn pointer(words: Words, ptr: DevicePtr<u8>) -> *mut u8 {
    words.address(words.word_of(ptr)).cast()
}

/// The handle of the granule at an address; null if it lies outside the heap or in the midst of one.
#[inline(always)]
pub fn handle(words: Words, address: *mut u8) -> DevicePtr<u8> {
    // An address below the heap becomes a great offset.
    let offset = (address as usize).wrapping_sub(words.address(0) as usize);
    let granule = DevicePtr::GRANULE_BYTES << words.granule_shift();
    if (offset < words.len() * 4) & (offset % granule == 0) {
        DevicePtr::from_granule((offset / granule) as u32)
    } else {
        DevicePtr::NULL
    }
}
