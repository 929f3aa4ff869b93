//! Where metadata and chunks lie.
//!
//! | words | what |
//! |---|---|
//! | header | |
//! | directory | a row per class: for each slot the chunk that warps of this slot use, plus one; 0: none |
//! | entries | per chunk: its state, in a sector of its own, and a bit per granule, set for a block that is taken. In a chunk of units the first word has the units |
//! | chunks | |
//!
//! States lie far apart because atomics on words that lie together meet in one slice of the cache: with
//! 32 bytes between them, 2^20 frees of 16 bytes took 17 µs on an H200, with 256 bytes 11.

use super::state::SLAB_CLASSES;
use warpheap_api::{HeapParams, header, select};

/// Parameter: granule at which the first chunk begins.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of chunks.
pub(crate) const PARAM_CHUNKS: usize = 1;
/// Parameter: two to this power is the granules of a chunk.
pub(crate) const PARAM_SHIFT: usize = 2;
/// Parameter: first word of the entries.
pub(crate) const PARAM_ENTRIES: usize = 3;
/// Parameter: words of an entry.
pub(crate) const PARAM_ENTRY_WORDS: usize = 4;
/// Parameter: slots of a row of the directory, a power of two.
pub(crate) const PARAM_SLOTS: usize = 5;
/// Parameter: two to this power, over the number of lanes of a launch, is the number of places that teams
/// may have without rows meeting; see [`Geometry::home`].
pub(crate) const PARAM_ROOM: usize = 6;

/// First word of the directory.
pub(crate) const DIRECTORY_WORD: u32 = header::HEADER_WORDS as u32;
/// Words from a chunk's state to its first bits.
const STATE_WORDS: u32 = 8;

/// Least and greatest chunk: two to this power granules.
pub(crate) const CHUNK_SHIFTS: core::ops::RangeInclusive<u32> = 8..=14;

/// The places of everything in a heap of so many chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    pub slots: u32,
    pub entries: u32,
    pub end: u32,
}

impl Tables {
    pub const fn new(chunks: u32, chunk_shift: u32) -> Self {
        let slots = chunks.next_power_of_two();
        // Whole sectors, so that each entry begins one.
        let entries = (DIRECTORY_WORD + SLAB_CLASSES * slots).next_multiple_of(8);
        Tables {
            slots,
            entries,
            end: entries + chunks * entry_words(chunk_shift),
        }
    }
}

/// Words of a chunk's entry.
#[inline(always)]
pub(crate) const fn entry_words(chunk_shift: u32) -> u32 {
    STATE_WORDS + (1 << (chunk_shift - 5))
}

/// The parameters of a heap.
#[derive(Clone, Copy)]
pub(crate) struct Geometry {
    /// Granule at which the first chunk begins.
    pub data: u32,
    /// Number of chunks.
    pub chunks: u32,
    shift: u32,
    entries: u32,
    entry_words: u32,
    slots: u32,
    pub room_log: u32,
}

impl Geometry {
    #[inline(always)]
    pub const fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            chunks: params[PARAM_CHUNKS],
            shift: params[PARAM_SHIFT],
            entries: params[PARAM_ENTRIES],
            entry_words: params[PARAM_ENTRY_WORDS],
            slots: params[PARAM_SLOTS],
            room_log: params[PARAM_ROOM],
        }
    }

    /// Two to this power granules are a chunk.
    #[inline(always)]
    pub const fn chunk_shift(self) -> u32 {
        self.shift & 31
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
        (self.entries + chunk * self.entry_words) as usize
    }

    /// The word beside a chunk's state: in a chunk of units the sum of a bit for each place where a block
    /// begins. Added and subtracted, so that it does not matter which of two that meet comes first.
    #[inline(always)]
    pub const fn heads_word(self, chunk: u32) -> usize {
        self.state_word(chunk) + 1
    }

    /// The first word of a chunk's bits.
    #[inline(always)]
    pub const fn bits_word(self, chunk: u32) -> usize {
        self.state_word(chunk) + STATE_WORDS as usize
    }

    /// The slot with this number of those of teams with 2^`log` places, 3 to 5: a quarter of all, half of
    /// all, and all from the first one; there are others with the same.
    #[inline(always)]
    pub const fn slot(self, number: u32, log: u32) -> u32 {
        (number + (self.slots >> (5 - log))) & (self.slots - 1)
    }

    /// The directory's word for a slot.
    #[inline(always)]
    pub const fn slot_word(self, row: u32, slot: u32) -> usize {
        (DIRECTORY_WORD + row * self.slots + slot) as usize
    }

    /// The chunk that a slot takes if it is free, of the row of blocks of this size. Slots side by side have
    /// chunks side by side. Rows begin apart in proportion to what teams with 2^`log` places of such blocks
    /// take, so that launches which allocate as many of each size fill rows that do not meet.
    #[inline(always)]
    pub const fn home(self, granules: u32, slot: u32, log: u32) -> u32 {
        let begin = (granules * 3 * (self.slots >> 2)) >> (11 - log);
        self.wrapped((begin + slot) & (self.slots - 1))
    }

    /// A chunk's number less the number of chunks, if it is not less than that; below twice that.
    #[inline(always)]
    pub const fn wrapped(self, chunk: u32) -> u32 {
        chunk - select(chunk >= self.chunks, self.chunks, 0)
    }
}
