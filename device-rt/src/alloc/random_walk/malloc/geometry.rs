//! Where metadata and units lie.
//!
//! | words | content |
//! |---|---|
//! | step counters and draws | as in the other heaps of the family |
//! | map | a bit for each unit, set for one that is taken |
//! | marks | 16 bits for each unit: its slots that hold small blocks |
//! | from granule `PARAM_DATA` | units |

use super::super::geometry::{FIRST_WORD, warp_number};
use crate::bits::low_mask;
use crate::thread;
use warpheap_api::{HeapParams, least, select};

/// Parameter: granule of the first unit, a multiple of a unit.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of units.
pub(crate) const PARAM_UNITS: usize = 1;
/// Parameter: two to this power is the granules of a unit.
pub(crate) const PARAM_SHIFT: usize = 2;
/// Parameter: first word of the marks.
pub(crate) const PARAM_MARKS: usize = 3;
/// Parameter: words of the map that make a region.
pub(crate) const PARAM_REGION: usize = 4;
/// Parameter: random regions that a request looks at before it goes through the map in order.
pub(crate) const PARAM_WALK: usize = 5;
/// Parameter: whether steps are counted.
pub(crate) const PARAM_COUNTS: usize = 6;

/// First word of the map.
pub(crate) const MAP_WORD: usize = FIRST_WORD;
/// Two to this power is the most slots of a unit.
const SLOTS_LOG: u32 = 4;

/// The tables of a heap of so many units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    /// First word of the marks.
    pub(crate) marks: u32,
    /// Behind the last table.
    pub(crate) end: u32,
}

impl Tables {
    pub(crate) const fn new(units: u32) -> Self {
        let marks = MAP_WORD as u32 + map_words(units);
        Tables {
            marks,
            end: marks + (units >> 1) + (units & 1),
        }
    }
}

/// Words of the map.
#[inline(always)]
pub(crate) const fn map_words(units: u32) -> u32 {
    (units >> 5) + (units & 31 != 0) as u32
}

/// The layout of one heap.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    data: u32,
    /// Number of units.
    pub(super) units: u32,
    shift: u32,
    marks: u32,
    /// Words of a region.
    pub(super) region: u32,
    /// Random regions of a request.
    pub(super) walk: u32,
    /// Whether steps are counted.
    pub(super) counts: bool,
}

impl Geometry {
    #[inline(always)]
    pub(super) fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            units: params[PARAM_UNITS],
            shift: params[PARAM_SHIFT],
            marks: params[PARAM_MARKS],
            region: params[PARAM_REGION],
            walk: params[PARAM_WALK],
            counts: params[PARAM_COUNTS] != 0,
        }
    }

    /// Two to this power is the granules of a unit.
    #[inline(always)]
    pub(super) fn unit_shift(self) -> u32 {
        self.shift & 31
    }
    /// Two to this power is the slots of a unit: no more than have marks, of a granule at least.
    #[inline(always)]
    pub(super) fn slots_log(self) -> u32 {
        least(self.unit_shift(), SLOTS_LOG)
    }
    /// Two to this power is the granules of a slot.
    #[inline(always)]
    pub(super) fn slot_shift(self) -> u32 {
        self.unit_shift() - self.slots_log()
    }
    /// Units of a region.
    #[inline(always)]
    pub(super) fn region_units(self) -> u32 {
        self.region << 5
    }

    /// The granule at which a unit begins.
    #[inline(always)]
    pub(super) fn granule_of(self, unit: u32) -> u32 {
        // Also asked for of no unit, when nobody looks at the answer.
        self.data.wrapping_add(unit << self.unit_shift())
    }
    /// The unit that holds a granule.
    #[inline(always)]
    pub(super) fn unit_of(self, granule: u32) -> u32 {
        (granule - self.data) >> self.unit_shift()
    }
    /// The slot of its unit that holds a granule.
    #[inline(always)]
    pub(super) fn slot_of(self, granule: u32) -> u32 {
        let offset = (granule - self.data) & ((1 << self.unit_shift()) - 1);
        offset >> self.slot_shift()
    }

    /// Words of the map.
    #[inline(always)]
    pub(super) fn map_words(self) -> u32 {
        map_words(self.units)
    }
    /// A word of the map.
    #[inline(always)]
    pub(super) fn map(self, word: u32) -> usize {
        MAP_WORD + word as usize
    }
    /// The word with the marks of a pair of units.
    #[inline(always)]
    pub(super) fn mark_word(self, pair: u32) -> usize {
        (self.marks + pair) as usize
    }

    /// Where the calling warp asks for `total` units first, if there are so many: places of warps lie side
    /// by side in the order of the launch.
    #[inline(always)]
    pub(super) fn home(self, total: u32) -> u32 {
        // Warps of different totals meet less if their places are of few sizes; but the places must do for
        // the launch.
        let round = 1 << (32 - (total - 1).leading_zeros());
        let lanes_log = crate::arch::warp_width().trailing_zeros();
        let enough = (thread::count() >> lanes_log) < self.units / round;
        let place = select(enough, round, total);
        let places = self.units / place;
        warp_number() % (places + (places == 0) as u32) * place
    }

    /// Units from `unit` to the next one that begins at a multiple of `align` units.
    #[inline(always)]
    pub(super) fn to_aligned(self, unit: u32, align: u32) -> u32 {
        let place = (self.data >> self.unit_shift()) + unit;
        place.wrapping_neg() & (align - 1)
    }
    /// The bits of a word of the map whose units begin at multiples of `align` units.
    #[inline(always)]
    pub(super) fn aligned_places(self, word: u32, align: u32) -> u32 {
        let first = self.to_aligned(word << 5, align);
        let every = u32::MAX / low_mask(align);
        select(first < 32, every << (first & 31), 0)
    }
}

/// The bits that a run of `count` units from `start` on has in a word of the map.
#[inline(always)]
pub(super) const fn part_of_run(word: u32, start: u32, count: u32) -> u32 {
    let first = word << 5;
    let begin = select(start > first, start - least(first, start), 0);
    let end = start + count;
    let end = select(end > first, end - least(first, end), 0);
    low_mask(end) & !low_mask(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_sum_of_their_parts() {
        for (start, count) in [(0, 1), (5, 27), (5, 28), (31, 2), (33, 64), (40, 200)] {
            for unit in 0..320u32 {
                let bit = part_of_run(unit / 32, start, count) >> (unit % 32) & 1;
                let inside = (start..start + count).contains(&unit);
                assert_eq!(bit == 1, inside, "{unit} of {count} from {start}");
            }
        }
    }

    #[test]
    fn places_are_aligned_relative_to_the_heap() {
        let mut params = [0; warpheap_api::abi::HEAP_PARAMS];
        params[PARAM_SHIFT] = 4;
        params[PARAM_DATA] = 37 << 4;
        let geometry = Geometry::new(params);
        for align in [1, 2, 8, 32, 64, 256] {
            for unit in 0..600 {
                let bit = geometry.aligned_places(unit / 32, align) >> (unit % 32) & 1;
                let aligned = (37 + unit) % align == 0;
                assert_eq!(bit == 1, aligned, "{unit} at {align}");
                assert_eq!((37 + unit + geometry.to_aligned(unit, align)) % align, 0);
            }
        }
    }
}
