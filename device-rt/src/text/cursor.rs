//! Where the next byte goes.

use warpheap_api::{HeapMemory, least, select};

/// A place in words that bytes are written to one behind the other, four to a word, the first one lowest.
///
/// The bytes of the last word that is not full are kept here. So no word is read, and each byte costs one write, without a
/// branch: drivers take long for loops with branches in them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    word: usize,
    /// Bits of the word that are taken: 0, 8, 16 or 24.
    shift: u32,
    /// These bits, and zeros above them.
    pending: u32,
}

impl Cursor {
    /// Behind the first `bytes` bytes of those that begin at `word`, of which the last ones that fill no word are `pending`.
    #[inline(always)]
    pub(crate) fn new(word: usize, bytes: u32, pending: u32) -> Self {
        Cursor {
            word: word + (bytes / 4) as usize,
            shift: bytes % 4 * 8,
            pending,
        }
    }

    /// Writes the first `bytes` bytes of `word`, 1 to 4.
    #[inline(always)]
    pub fn put<M: HeapMemory>(&mut self, memory: M, word: u32, bytes: u32) {
        let word = word & keep(bytes);
        let merged = self.pending | word << self.shift;
        memory.write(self.word, merged);
        let end = self.shift + bytes * 8;
        // In two steps, since a shift by all bits of a word is none.
        let rest = word >> 1 >> (31 - self.shift);
        let full = end >= 32;
        self.pending = select(full, rest, merged);
        self.word += full as usize;
        self.shift = end % 32;
    }

    /// Writes the first `bytes` bytes of `word`, 1 to 4, so many times.
    #[inline(always)]
    pub fn repeat<M: HeapMemory>(&mut self, memory: M, word: u32, bytes: u32, times: u32) {
        let mut done = 0;
        while done < times {
            self.put(memory, word, bytes);
            done += 1;
        }
    }

    /// Writes what is left. To be called once, at the end.
    #[inline(always)]
    pub(crate) fn finish<M: HeapMemory>(self, memory: M) {
        if self.shift != 0 {
            memory.write(self.word, self.pending);
        }
    }
}

/// Words that so many bytes take.
#[inline(always)]
pub(crate) const fn words_of(bytes: u32) -> u32 {
    bytes / 4 + (bytes % 4 != 0) as u32
}

/// The bits of the first `bytes` bytes of a word.
#[inline(always)]
pub(crate) const fn keep(bytes: u32) -> u32 {
    let bits = least(bytes, 4) * 8;
    select(bits == 32, u32::MAX, (1 << (bits & 31)) - 1)
}
