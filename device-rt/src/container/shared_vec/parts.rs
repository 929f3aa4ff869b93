//! Where everything lies in the control block of a shared vector.
//!
//! | words | what |
//! |---|---|
//! | 1 | the [`State`]: which segment is filled now, and how large the first one is |
//! | one for each segment | its block: granule and one, 0 for none. None for the first one, which lies here |
//! | those of the first segment | its elements |
//! | one for each segment | its counter of elements |
//!
//! Each push looks at the first two and changes a counter. Elements lie between them, so that they do not wait for
//! each other in one line of a cache, but where the first segment is very small.

use crate::container::block::{block_layout, word_of};
use warpheap_api::{HeapData, HeapMemory, Layout};

/// The state's word.
pub(crate) const STATE: usize = 0;
/// The words of the segments.
const SEGMENTS: usize = 1;

/// What a push has to know first.
#[derive(Clone, Copy)]
pub(crate) struct State {
    /// The segment that is filled now.
    pub(crate) segment: u32,
    /// Elements of the first segment, as a power of two.
    pub(crate) log2: u32,
}

impl State {
    /// That of an empty vector.
    #[inline(always)]
    pub(crate) const fn first(log2: u32) -> Self {
        State { segment: 0, log2 }
    }

    /// What a word says.
    #[inline(always)]
    pub(crate) const fn of(word: u32) -> Self {
        State {
            segment: word & 0xff,
            log2: word >> 8,
        }
    }

    /// Its word.
    #[inline(always)]
    pub(crate) const fn word(self) -> u32 {
        self.log2 << 8 | self.segment
    }
}

/// Number of segments whose elements 32-bit indices reach.
#[inline(always)]
pub(crate) const fn segments(log2: u32) -> u32 {
    32 - log2
}

/// Elements of a segment.
#[inline(always)]
pub(crate) const fn capacity(log2: u32, segment: u32) -> u32 {
    1 << ((log2 + segment) & 31)
}

/// Index of a segment's first element.
#[inline(always)]
pub(crate) const fn first(log2: u32, segment: u32) -> u32 {
    capacity(log2, segment).wrapping_sub(1 << log2)
}

/// The word that names a segment's block.
#[inline(always)]
pub(crate) const fn segment_word(at: usize, segment: u32) -> usize {
    at + SEGMENTS + segment as usize
}

/// The word that counts a segment's elements: more than it has room for when it is full.
#[inline(always)]
pub(crate) const fn counter<T: HeapData>(at: usize, log2: u32, segment: u32) -> usize {
    first_element(at, log2) + ((T::WORDS as usize) << log2) + segment as usize
}

/// The word of the first segment's first element.
#[inline(always)]
pub(crate) const fn first_element(at: usize, log2: u32) -> usize {
    at + SEGMENTS + segments(log2) as usize
}

/// The word of an element; `block` is its segment's word, 0 for the first segment's.
#[inline(always)]
pub(crate) fn element<T: HeapData, M: HeapMemory>(
    words: M,
    at: usize,
    log2: u32,
    block: u32,
    offset: u32,
) -> usize {
    let mut first = first_element(at, log2);
    if block != 0 {
        first = word_of(words, block);
    }
    first + offset as usize * T::WORDS as usize
}

#[inline(always)]
pub(crate) const fn control_layout<T: HeapData>(log2: u32) -> Layout {
    let header = SEGMENTS as u32 + 2 * segments(log2);
    block_layout(header, 1 << log2, T::WORDS)
}
