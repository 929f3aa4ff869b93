//! Contents that tell whose block it is.
//!
//! A block is filled with words that follow from a *stamp*, a number that no other block has. Small
//! blocks are filled wholly, large ones at about a thousand places, the last word always among
//! them.

use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

/// Words of a block of `bytes` bytes.
#[inline(always)]
pub fn words_of(bytes: u32) -> u32 {
    bytes / 4 + (bytes % 4 != 0) as u32
}

/// The word at index `i` of a block with this stamp.
#[inline(always)]
pub fn word(stamp: u32, i: u32) -> u32 {
    (stamp ^ 0x5a5a_a5a5)
        .wrapping_mul(0x9e37_79b1)
        .wrapping_add(i.wrapping_mul(0x85eb_ca6b))
}

/// Distance of the words that are filled in a block of `words` words.
#[inline(always)]
pub fn step(words: u32) -> u32 {
    words / 1024 + 1
}

/// Fills words `first..words` of a block.
#[inline(always)]
pub fn fill<A: DeviceAlloc>(heap: Heap<A>, ptr: DevicePtr<u8>, first: u32, words: u32, stamp: u32) {
    // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
    let memory = unsafe { heap.words() };
    let mut i = first;
    while i < words {
        memory.write(memory.word_of(ptr) + i as usize, word(stamp, i));
        i += step(words);
    }
    if words > first {
        let last = words - 1;
        memory.write(memory.word_of(ptr) + last as usize, word(stamp, last));
    }
}

/// Whether those of the words `first..end` that [`fill`] filled in a block of `words` words are as it
/// left them.
#[inline(always)]
pub fn intact<A: DeviceAlloc>(
    heap: Heap<A>,
    ptr: DevicePtr<u8>,
    first: u32,
    end: u32,
    words: u32,
    stamp: u32,
) -> bool {
    // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
    let memory = unsafe { heap.words() };
    let mut wrong = 0;
    let mut i = first;
    while i < end {
        wrong |= memory.read(memory.word_of(ptr) + i as usize) ^ word(stamp, i);
        i += step(words);
    }
    if end == words && words > first {
        let last = words - 1;
        wrong |= memory.read(memory.word_of(ptr) + last as usize) ^ word(stamp, last);
    }
    wrong == 0
}
