//! Where metadata and chunks lie.
//!
//! | words | what |
//! |---|---|
//! | header | |
//! | states | a word per chunk, 32 bytes apart so that chunks do not share a sector |
//! | directory | a row per class: for each slot the chunk that warps of this slot use, plus one; 0: none |
//! | bits | a bit per granule: set for a block that is taken. The first of a chunk of units has the units, the second the units at which blocks begin |
//! | chunks | |

use super::state::ROWS;
use warpheap_api::{HeapParams, header, select};

/// Parameter: granule at which the first chunk begins.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of chunks.
pub(crate) const PARAM_CHUNKS: usize = 1;
/// Parameter: two to the power of the low byte is the granules of a chunk, of the next byte the slots of a
/// row of the directory.
pub(crate) const PARAM_SHIFTS: usize = 2;
/// Parameter: first word of the directory.
pub(crate) const PARAM_DIRECTORY: usize = 3;
/// Parameter: first word of the bits.
pub(crate) const PARAM_BITS: usize = 4;

/// First word of the chunks' states.
pub(crate) const STATES_WORD: u32 = header::HEADER_WORDS as u32;
/// Words from one state to the next.
pub(crate) const STATE_STRIDE: u32 = 8;

/// Least and greatest chunk: two to this power granules.
pub(crate) const CHUNK_SHIFTS: core::ops::RangeInclusive<u32> = 8..=14;

/// The places of everything in a heap of so many chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    pub slot_shift: u32,
    pub directory: u32,
    pub bits: u32,
    pub end: u32,
}

impl Tables {
    pub const fn new(chunks: u32, chunk_shift: u32) -> Self {
        let slot_shift = 31 - (chunks | 1).leading_zeros();
        let directory = STATES_WORD + chunks * STATE_STRIDE;
        // Whole sectors, so that the words of a chunk begin one.
        let bits = (directory + (ROWS << slot_shift)).next_multiple_of(8);
        Tables {
            slot_shift,
            directory,
            bits,
            end: bits + (chunks << (chunk_shift - 5)),
        }
    }
}

/// The parameters of a heap.
#[derive(Clone, Copy)]
pub(crate) struct Geometry {
    /// Granule at which the first chunk begins.
    pub data: u32,
    /// Number of chunks.
    pub chunks: u32,
    shifts: u32,
    directory: u32,
    bits: u32,
}

impl Geometry {
    #[inline(always)]
    pub const fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            chunks: params[PARAM_CHUNKS],
            shifts: params[PARAM_SHIFTS],
            directory: params[PARAM_DIRECTORY],
            bits: params[PARAM_BITS],
        }
    }

    /// Two to this power granules are a chunk.
    #[inline(always)]
    pub const fn chunk_shift(self) -> u32 {
        self.shifts & 31
    }

    /// Granules of the largest block that shares its chunk with others of its class.
    #[inline(always)]
    pub const fn most_in_slab(self) -> u32 {
        1 << (self.chunk_shift() - 3)
    }

    /// Two to this power granules are a unit: 32 units make a chunk.
    #[inline(always)]
    pub const fn unit_shift(self) -> u32 {
        self.chunk_shift() - 5
    }

    /// The granule at which a chunk begins.
    #[inline(always)]
    pub const fn granule_of(self, chunk: u32) -> u32 {
        self.data + (chunk << self.chunk_shift())
    }

    /// The chunk of a granule.
    #[inline(always)]
    pub const fn chunk_of(self, granule: u32) -> u32 {
        granule.wrapping_sub(self.data) >> self.chunk_shift()
    }

    /// How many granules into its chunk a granule is.
    #[inline(always)]
    pub const fn offset_of(self, granule: u32) -> u32 {
        granule.wrapping_sub(self.data) & ((1 << self.chunk_shift()) - 1)
    }

    /// The word of a chunk's state.
    #[inline(always)]
    pub const fn state_word(self, chunk: u32) -> usize {
        (STATES_WORD + chunk * STATE_STRIDE) as usize
    }

    /// The first word of a chunk's bits.
    #[inline(always)]
    pub const fn bits_word(self, chunk: u32) -> usize {
        (self.bits + (chunk << (self.chunk_shift() - 5))) as usize
    }

    /// The directory's word for a slot, which wraps around.
    #[inline(always)]
    pub const fn slot_word(self, row: u32, slot: u32) -> usize {
        let slot_shift = (self.shifts >> 8) & 31;
        let slot = slot & ((1 << slot_shift) - 1);
        (self.directory + (row << slot_shift) + slot) as usize
    }

    /// The chunk that a slot of a row takes if it is free. Slots side by side have chunks side by side,
    /// and rows begin apart, in the lower third: large blocks come from the end.
    #[inline(always)]
    pub const fn home(self, row: u32, slot: u32) -> u32 {
        let slot_shift = (self.shifts >> 8) & 31;
        let slot = slot & ((1 << slot_shift) - 1);
        self.wrapped(((row * self.chunks) >> 7) + slot)
    }

    /// A chunk's number less the number of chunks, if it is not less than that; below twice that.
    #[inline(always)]
    pub const fn wrapped(self, chunk: u32) -> u32 {
        chunk - select(chunk >= self.chunks, self.chunks, 0)
    }
}
