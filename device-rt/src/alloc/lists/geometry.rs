//! Where the words lie.
//!
//! | words | content |
//! |---|---|
//! | [`TOP_WORD`] | the first unit that was never used |
//! | [`LEFT_WORD`] | the largest free segment that the last sweep left; see `sweep` |
//! | [`LOCK_WORD`], [`ROVER_WORD`], [`LARGEST_WORD`] | who sweeps, where, what was seen |
//! | from [`BINS_WORD`] | sets of bins, [`SET_WORDS`] words each: list and inbox of ten bins |
//! | from `PARAM_TABLE` | two words a unit: state of the segment that begins there, next of its list |
//! | from granule `PARAM_DATA` | units |

use warpheap_api::{HeapParams, header};

/// Parameter: granule of the first unit, a multiple of a unit.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of units.
pub(crate) const PARAM_UNITS: usize = 1;
/// Parameter: two to this power granules are a unit.
pub(crate) const PARAM_SHIFT: usize = 2;
/// Parameter: sets of bins.
pub(crate) const PARAM_SETS: usize = 3;
/// Parameter: first word of the table.
pub(crate) const PARAM_TABLE: usize = 4;

/// The least that [`PARAM_SHIFT`] can be: units of 64 bytes, so that the sizes of 64 GiB have 30 bits.
pub(crate) const LEAST_SHIFT: u32 = 2;
/// The most: units of 4 KiB.
pub(crate) const MOST_SHIFT: u32 = 8;

/// The allocator's first word.
pub(crate) const FIRST_WORD: usize = header::HEADER_WORDS;
/// The first unit that was never used.
pub(crate) const TOP_WORD: usize = FIRST_WORD;
/// The largest free segment that the last sweep left.
pub(super) const LEFT_WORD: usize = FIRST_WORD + 32;
/// Whether somebody sweeps.
pub(super) const LOCK_WORD: usize = FIRST_WORD + 64;
/// Where the sweep goes on.
pub(super) const ROVER_WORD: usize = FIRST_WORD + 65;
/// The largest free segment that the sweep has seen.
pub(super) const LARGEST_WORD: usize = FIRST_WORD + 66;
/// The first set of bins.
pub(crate) const BINS_WORD: usize = FIRST_WORD + 96;
/// Words of a set: the lists, and from [`INBOX`] what was freed since.
pub(crate) const SET_WORDS: usize = 32;
/// In a set: the first inbox.
pub(super) const INBOX: usize = 16;
/// Bins of a set, as in the paper's §7.
pub(super) const BINS: u32 = 10;

/// Behind the last segment of a list.
pub(crate) const END: u32 = u32::MAX;
/// The next of a segment is being written.
pub(super) const PENDING: u32 = u32::MAX - 1;
/// Somebody has the list in hand.
pub(super) const TAKEN: u32 = u32::MAX - 2;

/// The layout of one heap.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    data: u32,
    table: u32,
    pub(super) units: u32,
    pub(super) shift: u32,
    pub(super) sets: u32,
}

impl Geometry {
    #[inline(always)]
    pub(super) fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            table: params[PARAM_TABLE],
            units: params[PARAM_UNITS],
            shift: params[PARAM_SHIFT],
            sets: params[PARAM_SETS],
        }
    }

    /// The word of the state of the segment that begins with this unit.
    #[inline(always)]
    pub(super) fn state_word(self, unit: u32) -> usize {
        self.table as usize + unit as usize * 2
    }

    /// The word of its link.
    #[inline(always)]
    pub(super) fn next_word(self, unit: u32) -> usize {
        self.state_word(unit) + 1
    }

    /// The word of a list.
    #[inline(always)]
    pub(super) fn list_word(self, set: u32, bin: u32) -> usize {
        BINS_WORD + set as usize * SET_WORDS + bin as usize
    }

    #[inline(always)]
    pub(super) fn granule_of(self, unit: u32) -> u32 {
        self.data + (unit << self.shift)
    }

    #[inline(always)]
    pub(super) fn unit_of(self, granule: u32) -> u32 {
        (granule - self.data) >> self.shift
    }

    /// Units from this one to the first that is aligned in the heap.
    #[inline(always)]
    pub(super) fn front(self, unit: u32, align: u32) -> u32 {
        let place = (self.data >> self.shift) + unit;
        place.wrapping_neg() & (align - 1)
    }
}
