//! Where metadata and chunks lie.
//!
//! | words | what |
//! |---|---|
//! | header | |
//! | windows | for each row, in a sector of its own: how many chunks of the row are looked at; where the last search ended, plus one; and of what searches share, `lap`, the segments handed out and the doubts; and of a compaction, the blocks in chunks that are nearly empty, and the chunks of two kinds that stay |
//! | currents | for each row: chunks that warps use now, plus one; 0: none yet |
//! | laps | for each row: segments that searches looked at in the laps that are under way |
//! | directory | for each row: the chunk at a place of the row, plus one; 0: the one that follows from the place |
//! | entries | per chunk: its state, in a sector of its own, and a bit per granule, set for a block that is taken. In a chunk of units the first word has the units |
//! | chunks | |
//!
//! A row is what one size class uses; the last one is that of units.
//!
//! States lie far apart because atomics on words that lie together meet in one slice of the cache: with
//! 32 bytes between them, 2^20 frees of 16 bytes took 17 µs on an H200, with 256 bytes 11.

use super::state::SLAB_CLASSES;
use crate::arch::where_calls_or_tests;
use warpheap_api::{HeapParams, header, least, select};

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
/// Parameter: first word of the directory.
pub(crate) const PARAM_DIRECTORY: usize = 6;
/// Parameter: words of a row of the currents, a power of two.
pub(crate) const PARAM_CURRENTS: usize = 7;

/// First word of the windows, and of all tables.
pub(crate) const WINDOWS_WORD: u32 = (header::HEADER_WORDS as u32).next_multiple_of(8);
/// First word of the currents.
const CURRENTS_WORD: u32 = WINDOWS_WORD + ROWS * WINDOW_WORDS;
/// Words of a row of the windows.
const WINDOW_WORDS: u32 = 8;
/// Rows: one for each size class, and that of units.
pub(crate) const ROWS: u32 = SLAB_CLASSES + 1;
/// The row of units.
pub(crate) const UNITS_ROW: u32 = SLAB_CLASSES;
/// Words from a chunk's state to its first bits.
const STATE_WORDS: u32 = 8;

/// Least and greatest chunk: two to this power granules.
pub(crate) const CHUNK_SHIFTS: core::ops::RangeInclusive<u32> = 8..=14;

/// Least and greatest number of words of a row of the currents.
const LEAST_CURRENTS: u32 = 4;
const MOST_CURRENTS: u32 = 128;

/// Least and greatest number of laps of a row that can be under way, two to these powers.
const LEAST_LAPS: u32 = 2;
const MOST_LAPS: u32 = 6;
/// One lap for two to this power slots, as long as it is one of these numbers; none for so few.
const SLOTS_FOR_A_LAP: u32 = 5;

/// The places of everything in a heap of so many chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    pub currents: u32,
    pub directory: u32,
    pub slots: u32,
    pub entries: u32,
    pub end: u32,
}

impl Tables {
    pub const fn new(chunks: u32, chunk_shift: u32) -> Self {
        let slots = chunks.next_power_of_two();
        let currents = least(
            MOST_CURRENTS,
            select(slots / 8 < LEAST_CURRENTS, LEAST_CURRENTS, slots / 8),
        );
        let directory = directory_word(slots, currents);
        // Whole sectors, so that each entry begins one.
        let entries = (directory + ROWS * slots).next_multiple_of(8);
        Tables {
            currents,
            directory,
            slots,
            entries,
            end: entries + chunks * entry_words(chunk_shift),
        }
    }
}

/// First word of the directory.
#[inline(always)]
const fn directory_word(slots: u32, currents: u32) -> u32 {
    let laps = select(slots >> SLOTS_FOR_A_LAP <= 1, 0, 1 << laps_shift(slots));
    CURRENTS_WORD + ROWS * (currents + laps)
}

/// Two to this power laps of a row can be under way at a time, in a heap of so many slots.
#[inline(always)]
const fn laps_shift(slots: u32) -> u32 {
    let shift = slots.trailing_zeros();
    let shift = shift - least(shift, SLOTS_FOR_A_LAP);
    least(MOST_LAPS, select(shift < LEAST_LAPS, LEAST_LAPS, shift))
}

/// Words of a chunk's entry.
#[inline(always)]
pub(crate) const fn entry_words(chunk_shift: u32) -> u32 {
    STATE_WORDS + (1 << (chunk_shift - 5))
}

/// The parameters of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Granule at which the first chunk begins.
    pub data: u32,
    /// Number of chunks.
    pub chunks: u32,
    shift: u32,
    entries: u32,
    entry_words: u32,
    slots: u32,
    directory: u32,
    currents: u32,
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
            directory: params[PARAM_DIRECTORY],
            currents: params[PARAM_CURRENTS],
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

    /// The word that says how many places of a row are looked at: its window.
    #[inline(always)]
    pub const fn window_word(self, row: u32) -> usize {
        (WINDOWS_WORD + row * WINDOW_WORDS) as usize
    }

    /// The word that says at which chunk the last search for a row ended, plus one.
    #[inline(always)]
    pub const fn ended_word(self, row: u32) -> usize {
        self.window_word(row) + 1
    }

    /// The word that counts segments that were handed out to searches for a row.
    #[inline(always)]
    pub const fn given_word(self, row: u32) -> usize {
        self.window_word(row) + 2
    }

    /// The word that counts segments of which somebody cannot say that nothing is left.
    #[inline(always)]
    pub const fn doubts_word(self, row: u32) -> usize {
        self.window_word(row) + 3
    }

    /// The word that sums up the blocks in nearly empty chunks of a row while a compaction begins.
    #[inline(always)]
    pub const fn tally_word(self, row: u32) -> usize {
        self.window_word(row) + 4
    }

    /// The word that counts chunks of a row to which a compaction moves blocks: the first ones of its directory.
    #[inline(always)]
    pub const fn kept_word(self, row: u32) -> usize {
        self.window_word(row) + 5
    }

    /// The word that counts chunks of a row that are full enough for a compaction to leave them as they are.
    #[inline(always)]
    pub const fn dense_word(self, row: u32) -> usize {
        self.window_word(row) + 6
    }

    /// Two to this power laps of a row can be under way at a time.
    #[inline(always)]
    pub const fn laps_shift(self) -> u32 {
        laps_shift(self.slots)
    }

    /// The word that counts segments that were looked at in laps that are equal to this one modulo two to the power of
    /// [`laps_shift`](Self::laps_shift).
    #[inline(always)]
    pub const fn looked_word(self, row: u32, lap: u32) -> usize {
        let shift = self.laps_shift();
        let laps = CURRENTS_WORD + ROWS * self.currents;
        (laps + (row << shift) + (lap & ((1 << shift) - 1))) as usize
    }

    /// The word with the chunk, plus one, that a warp with this number uses for a row now.
    #[inline(always)]
    pub const fn current_word(self, row: u32, warp: u32) -> usize {
        (CURRENTS_WORD + row * self.currents + (warp & (self.currents - 1))) as usize
    }

    /// Places of a row, a power of two.
    #[inline(always)]
    pub const fn places(self) -> u32 {
        self.slots
    }

    /// The directory's word for a place of a row.
    #[inline(always)]
    pub const fn directory_word(self, row: u32, place: u32) -> usize {
        (self.directory + row * self.slots + (place & (self.slots - 1))) as usize
    }

    /// The chunk at a place of the row of blocks of so many granules, unless the directory has another. Places
    /// side by side have chunks side by side. Rows begin apart in proportion to the size of their blocks, so that
    /// launches which allocate as many of each size fill rows that do not meet. Those that begin in the upper half go
    /// down, so that none goes over the end of the pool before it has half of it.
    #[inline(always)]
    pub const fn home(self, granules: u32, place: u32) -> u32 {
        let mask = self.slots - 1;
        let begin = ((granules * 3 * (self.slots >> 2)) >> 6) & mask;
        // All bits, or none: to change the sign of the place.
        let down = select(begin > self.slots >> 1, u32::MAX, 0);
        let place = (place ^ down).wrapping_sub(down);
        self.wrapped(begin.wrapping_add(place) & mask)
    }

    /// The chunk in the other half of the pool that serves a place of a row whose home is another row's.
    #[inline(always)]
    pub const fn other_home(self, granules: u32, place: u32) -> u32 {
        self.home(granules, place.wrapping_add(self.slots >> 1))
    }

    /// A chunk's number less the number of chunks, if it is not less than that; below twice that.
    #[inline(always)]
    pub const fn wrapped(self, chunk: u32) -> u32 {
        chunk - select(chunk >= self.chunks, self.chunks, 0)
    }
}

where_calls_or_tests! {
    impl Geometry {
        /// It, for [`from_words`](Self::from_words): what does not follow from the rest.
        #[inline(always)]
        pub const fn to_words(self) -> [u32; 4] {
            let shape = self.chunk_shift()
                | self.slots.trailing_zeros() << 8
                | self.currents.trailing_zeros() << 16;
            [self.data, self.chunks, self.entries, shape]
        }

        /// What [`to_words`](Self::to_words) gave.
        #[inline(always)]
        pub const fn from_words([data, chunks, entries, shape]: [u32; 4]) -> Self {
            let shift = shape & 31;
            let slots = 1 << (shape >> 8 & 31);
            let currents = 1 << (shape >> 16 & 31);
            Geometry {
                data,
                chunks,
                shift,
                entries,
                entry_words: entry_words(shift),
                slots,
                directory: directory_word(slots, currents),
                currents,
            }
        }

        /// Words of the heap.
        #[inline(always)]
        pub const fn words(self) -> u64 {
            (self.data as u64 + ((self.chunks as u64) << self.chunk_shift())) * 4
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_words_tell_the_geometry() {
        for shift in CHUNK_SHIFTS {
            for chunks in [1, 7, 64, 65, 255, 1000, 4064, 32_489, 1 << 17] {
                let tables = Tables::new(chunks, shift);
                let geometry = Geometry {
                    data: 3 << shift,
                    chunks,
                    shift,
                    entries: tables.entries + 8,
                    entry_words: entry_words(shift),
                    slots: tables.slots,
                    directory: tables.directory,
                    currents: tables.currents,
                };
                let again = Geometry::from_words(geometry.to_words());
                assert_eq!(again, geometry);
                assert_eq!(again.words(), (u64::from(chunks) + 3) << shift << 2);
            }
        }
    }
}
