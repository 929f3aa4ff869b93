//! What stands between the placeholders of a format string.

use super::{Cursor, Sealed, Text};
use warpheap_api::{HeapMemory, least};

/// Bytes that are known while the crate is compiled, four to a word, the first one lowest.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Literal<const N: usize> {
    words: [u32; N],
    /// Number of bytes: more than `4 * (N - 1)`, at most `4 * N`.
    bytes: u32,
}

impl<const N: usize> Literal<N> {
    /// The first `bytes` bytes of these words; fewer if there are no more.
    #[inline(always)]
    pub const fn new(words: [u32; N], bytes: u32) -> Self {
        Literal {
            words,
            bytes: least(bytes, 4 * N as u32),
        }
    }
}

impl<const N: usize> Sealed for Literal<N> {}

impl<const N: usize> Text for Literal<N> {
    #[inline(always)]
    fn bytes(self) -> u32 {
        self.bytes
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        let mut i = 0;
        while (i < N) & (4 * (i as u32) < self.bytes) {
            cursor.put(memory, self.words[i], least(4, self.bytes - 4 * i as u32));
            i += 1;
        }
    }
}

/// No bytes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Empty;

impl Sealed for Empty {}

impl Text for Empty {
    #[inline(always)]
    fn bytes(self) -> u32 {
        0
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, _: M, _: &mut Cursor) {}
}
