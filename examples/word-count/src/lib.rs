//! Kernels that count the words of a text: compiled to PTX, to SPIR-V, and for the host.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// Bytes of the longest word that is counted.
pub const LONGEST: u32 = 32;

/// A word: its bytes, four to each 32-bit word, zeros behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, HeapData)]
#[repr(C)]
pub struct Word {
    /// The bytes, the first one in the lowest bits.
    pub packed: [u32; LONGEST as usize / 4],
}

/// Whether a byte belongs to a word: ASCII letters and digits, the apostrophe, and every byte of a
/// letter beyond ASCII.
#[inline(always)]
pub fn in_word(byte: u32) -> bool {
    let lower = byte | 0x20;
    let letter = (lower >= 'a' as u32) & (lower <= 'z' as u32);
    let digit = (byte >= '0' as u32) & (byte <= '9' as u32);
    letter | digit | (byte == '\'' as u32) | (byte >= 0x80)
}

/// Counts words: the lane at whose byte one begins reads it and adds 1 to its value in the map.
/// `text` has four bytes to a word and ends with zeros. Words of more than [`LONGEST`] bytes are left
/// out and counted in `too_long[0]`.
#[kernel(allocators = [WarpHeap])]
pub fn count_words<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<Word, u32>,
    text: &[u32],
    too_long: &[AtomicWord],
) -> Result<(), AllocError> {
    let bytes = text.len() as u32 * 4;
    let mut at = thread::index();
    while at < bytes {
        let begins = in_word(byte(text, at)) & ((at == 0) || !in_word(byte(text, at - 1)));
        if begins {
            let mut end = at + 1;
            while (end < bytes) & (end - at <= LONGEST) && in_word(byte(text, end)) {
                end += 1;
            }
            if end - at > LONGEST {
                too_long[0].fetch_add(1);
            } else {
                map.add(heap, word(text, at, end), 1)?;
            }
        }
        at += thread::count();
    }
    Ok(())
}

#[inline(always)]
fn byte(text: &[u32], at: u32) -> u32 {
    (text[(at / 4) as usize] >> (at % 4 * 8)) & 0xff
}

/// The word from byte `at` up to `end`, in lower case.
#[inline(always)]
fn word(text: &[u32], at: u32, end: u32) -> Word {
    Word {
        packed: [
            four(text, at, end),
            four(text, at + 4, end),
            four(text, at + 8, end),
            four(text, at + 12, end),
            four(text, at + 16, end),
            four(text, at + 20, end),
            four(text, at + 24, end),
            four(text, at + 28, end),
        ],
    }
}

/// Four bytes of a word from `at` on; zeros from `end` on.
#[inline(always)]
fn four(text: &[u32], at: u32, end: u32) -> u32 {
    let mut packed = 0;
    let mut i = 0;
    while (i < 4) & (at + i < end) {
        let byte = byte(text, at + i);
        let upper = (byte >= 'A' as u32) & (byte <= 'Z' as u32);
        packed |= (byte | ((upper as u32) << 5)) << (i * 8);
        i += 1;
    }
    packed
}
