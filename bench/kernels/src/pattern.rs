//! Contents that tell whose block it is.
//!
//! Each word follows from a *stamp*, a number that no other block has, and from the word's place. Of a
//! block of at least one word, every `step`-th word is written, and the last one always: with
//! [`ENDS`] that is the first and the last, with 1 all of them.

use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

/// The step at which the first and the last word alone are written.
pub const ENDS: u32 = 1 << 30;

/// The word at index `i` of a block with this stamp.
#[inline(always)]
pub fn word(stamp: u32, i: u32) -> u32 {
    (stamp ^ 0x5a5a_a5a5)
        .wrapping_mul(0x9e37_79b1)
        .wrapping_add(i.wrapping_mul(0x85eb_ca6b))
}

/// Writes the words of a block of `words` words from index `first` on.
#[inline(always)]
pub fn write<A: DeviceAlloc>(
    heap: Heap<A>,
    ptr: DevicePtr<u8>,
    first: u32,
    words: u32,
    stamp: u32,
    step: u32,
) {
    // SAFETY: the words are those of live blocks that the lane has.
    let memory = unsafe { heap.words() };
    let mut i = first;
    while i < words {
        memory.write(memory.word_of(ptr) + i as usize, word(stamp, i));
        i += step;
    }
    let last = words - 1;
    memory.write(memory.word_of(ptr) + last as usize, word(stamp, last));
}

/// 0 if the words that [`write()`] wrote are as it left them.
#[inline(always)]
pub fn damage<A: DeviceAlloc>(
    heap: Heap<A>,
    ptr: DevicePtr<u8>,
    words: u32,
    stamp: u32,
    step: u32,
) -> u32 {
    // SAFETY: the words are those of live blocks that the lane has.
    let memory = unsafe { heap.words() };
    let last = words - 1;
    let mut wrong = memory.read(memory.word_of(ptr) + last as usize) ^ word(stamp, last);
    let mut i = 0;
    while i < words {
        wrong |= memory.read(memory.word_of(ptr) + i as usize) ^ word(stamp, i);
        i += step;
    }
    (wrong != 0) as u32
}

/// Whole words of a block of `size` bytes, at least one.
#[inline(always)]
pub fn words_of(size: u32) -> u32 {
    size / 4 + (size < 4) as u32
}
