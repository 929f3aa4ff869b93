//! A growing string of bytes.

mod text;

use super::HeapVec;
use crate::Heap;
use crate::sync::hash;
use crate::text::{keep, words_of};
pub use text::HeapText;
crate::arch::where_all_of_rust! {
    mod writer;
    pub use writer::StringWriter;
}

use warpheap_api::{AllocError, DeviceAlloc, HeapData, HeapMemory, abi::ArgBlock, least, select};

/// A growing string of bytes in a heap, four to a word, the first one lowest: four words and a block that
/// doubles.
///
/// Bytes are passed as the low byte of a `u32`, since some devices know no smaller number. What they
/// mean is the host's affair: nothing here looks at UTF-8. It holds no heap, so it can lie in a buffer between
/// launches, in heap memory, or in another container; zeroed memory is an empty string. It owns its block, so it is
/// moved and never copied. It does not free itself: call [`free`](Self::free).
#[derive(Debug)]
#[repr(C)]
pub struct HeapString {
    /// Four bytes each; of the last one only those below the length count.
    packed: HeapVec<u32>,
    len: u32,
}

// SAFETY: four words, repr(C), no padding, every bit pattern allowed (methods promise nothing for strings that
// were not made by this type).
unsafe impl HeapData for HeapString {
    const WORDS: u32 = 4;
    const OF_HEAP: bool = true;
    const HOLDS_SHARED: bool = false;
    #[inline(always)]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        HeapString {
            packed: <HeapVec<u32> as HeapData>::get(memory, word),
            len: memory.read(word + 3),
        }
    }
    #[inline(always)]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        self.packed.put(memory, word);
        memory.write(word + 3, self.len);
    }
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        HeapString {
            // SAFETY: the caller's promise.
            packed: unsafe { HeapVec::from_args(args, at) },
            len: args.words[at + 3],
        }
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        HeapData::word_at(self.packed, index) | select(index == 3, self.len, 0)
    }
}

impl Default for HeapString {
    fn default() -> Self {
        Self::new()
    }
}

impl HeapString {
    /// An empty string, without memory.
    #[inline(always)]
    pub const fn new() -> Self {
        HeapString {
            packed: HeapVec::new(),
            len: 0,
        }
    }

    /// Number of bytes.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are no bytes.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The words that the bytes lie in: as many as it takes, whose unused bytes mean nothing.
    #[inline(always)]
    pub const fn packed(&self) -> &HeapVec<u32> {
        &self.packed
    }

    /// The byte at `index`, `None` beyond the end.
    #[inline(always)]
    pub fn byte<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32) -> Option<u32> {
        if index < self.len {
            Some(self.word(heap, index / 4) >> (index % 4 * 8) & 0xff)
        } else {
            None
        }
    }

    /// Makes room for `additional` bytes more.
    ///
    /// # Errors
    /// As [`push_byte`](Self::push_byte).
    #[inline]
    pub fn reserve<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        additional: u32,
    ) -> Result<(), AllocError> {
        if additional > u32::MAX - self.len {
            return Err(AllocError::Unsupported);
        }
        let words = words_of(self.len + additional);
        self.packed.reserve(heap, words - self.packed.len())
    }

    /// Appends a byte, the low one of `byte`.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], and [`AllocError::Unsupported`] from 4 GiB on; then the string is as it
    /// was.
    #[inline]
    pub fn push_byte<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        byte: u32,
    ) -> Result<(), AllocError> {
        self.reserve(heap, 1)?;
        self.append(heap, byte, 1);
        Ok(())
    }

    /// Appends the bytes of another string.
    ///
    /// # Errors
    /// As [`push_byte`](Self::push_byte).
    #[inline]
    pub fn push_str<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        other: &HeapString,
    ) -> Result<(), AllocError> {
        self.reserve(heap, other.len)?;
        let mut done = 0;
        while done < other.len {
            let bytes = least(4, other.len - done);
            self.append(heap, other.word(heap, done / 4), bytes);
            done += bytes;
        }
        Ok(())
    }

    /// Appends the first `len` bytes of `words`, four to a word; fewer, if there are no more.
    ///
    /// # Errors
    /// As [`push_byte`](Self::push_byte).
    #[inline]
    pub fn push_bytes<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        words: &[u32],
        len: u32,
    ) -> Result<(), AllocError> {
        let most = least(words.len() as u32, u32::MAX / 4) * 4;
        let len = least(len, most);
        self.reserve(heap, len)?;
        let mut done = 0;
        while done < len {
            let bytes = least(4, len - done);
            self.append(heap, words[(done / 4) as usize], bytes);
            done += bytes;
        }
        Ok(())
    }

    /// Appends a number in decimal.
    ///
    /// # Errors
    /// As [`push_byte`](Self::push_byte).
    #[inline]
    pub fn push_decimal<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        number: u32,
    ) -> Result<(), AllocError> {
        let (mut digits, mut unit) = (1, 1);
        while number / unit >= 10 {
            unit *= 10;
            digits += 1;
        }
        self.reserve(heap, digits)?;
        while unit != 0 {
            self.append(heap, 0x30 + number / unit % 10, 1);
            unit /= 10;
        }
        Ok(())
    }

    /// Keeps the first `len` bytes; does nothing if there are no more. The memory stays.
    #[inline(always)]
    pub fn truncate(&mut self, len: u32) {
        self.len = least(self.len, len);
        self.packed.truncate(words_of(self.len));
    }

    /// Whether both have the same bytes.
    #[inline]
    pub fn eq<A: DeviceAlloc>(&self, heap: Heap<A>, other: &HeapString) -> bool {
        (self.len == other.len) && self.cmp(heap, other) == 0
    }

    /// How this string's bytes compare with another's, as those of a dictionary: -1 if they are less, 0 if they
    /// are equal, 1 if they are greater.
    #[inline]
    pub fn cmp<A: DeviceAlloc>(&self, heap: Heap<A>, other: &HeapString) -> i32 {
        let common = least(self.len, other.len);
        let (mut mine, mut theirs, mut done) = (0, 0, 0);
        while (done < common) & (mine == theirs) {
            // The first byte decides, so it comes highest.
            let kept = keep(common - done);
            mine = swap(self.word(heap, done / 4) & kept);
            theirs = swap(other.word(heap, done / 4) & kept);
            done += 4;
        }
        let equal = mine == theirs;
        let (mine, theirs) = (
            select(equal, self.len, mine),
            select(equal, other.len, theirs),
        );
        (mine > theirs) as i32 - (mine < theirs) as i32
    }

    /// A hash of the bytes: equal for equal strings.
    #[inline]
    pub fn hash<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        let mut state = hash(self.len);
        let mut done = 0;
        while done < self.len {
            let word = self.word(heap, done / 4) & keep(self.len - done);
            state = hash(state.wrapping_mul(0x0100_0193) ^ word);
            done += 4;
        }
        state
    }

    /// Gives the memory back; the string is empty afterwards.
    #[inline]
    pub fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        self.packed.free(heap);
        self.len = 0;
    }

    /// A word of the string that there is.
    #[inline(always)]
    fn word<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32) -> u32 {
        // SAFETY: callers ask for words below the length.
        unsafe { self.packed.get_unchecked(heap, index) }
    }

    /// Appends the first `bytes` bytes of `word`, 1 to 4. There is room.
    #[inline(always)]
    fn append<A: DeviceAlloc>(&mut self, heap: Heap<A>, word: u32, bytes: u32) {
        let (last, shift) = (self.len / 4, self.len % 4 * 8);
        let word = word & keep(bytes);
        let mut rest = word;
        if shift != 0 {
            let old = self.word(heap, last) & keep(self.len % 4);
            self.packed.set(heap, last, old | word << shift);
            rest = word >> (32 - shift);
        }
        self.len += bytes;
        if words_of(self.len) > self.packed.len() {
            // SAFETY: callers made room.
            unsafe { self.packed.push_unchecked(heap, rest) };
        }
    }
}

/// The bytes in the opposite order.
#[inline(always)]
const fn swap(word: u32) -> u32 {
    let outer = word << 24 | word >> 24;
    outer | (word & 0xff00) << 8 | (word >> 8 & 0xff00)
}
