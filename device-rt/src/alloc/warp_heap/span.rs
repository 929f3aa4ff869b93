//! Where blocks of units lie: in one chunk, or over the end of one and the beginning of the chunk behind it.

use crate::bits::{low_mask, starts_of};
use warpheap_api::{least, select};

/// Instead of a place in a chunk: there is none.
pub(super) const NO_PLACE: u32 = 32;

/// Units side by side.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Those in the chunk where they begin …
    pub here: u32,
    /// … and those in the chunk behind it.
    pub behind: u32,
}

impl Span {
    /// So many units from place `bit` of a chunk on, at most 32.
    #[inline(always)]
    pub const fn new(units: u32, bit: u32) -> Span {
        let end = bit + units;
        Span {
            here: low_mask(units) << (bit & 31),
            behind: low_mask(end - least(end, 32)),
        }
    }
}

/// The place of a chunk with these free units at which so many begin side by side, a multiple of `align`: the first one, but
/// the last one in units that are free from the chunk's beginning on. If there is none in the chunk alone they go over its
/// end, where `behind` is free in the chunk behind it.
///
/// So a block lies next to another one, also if the units in front of this chunk are free. It leaves the others side by
/// side: where all blocks are of one size, what is free stays a multiple of it.
#[inline(always)]
pub(super) const fn place_of(free: u32, behind: u32, units: u32, align: u32) -> u32 {
    let starts = starts_of(free, units) & aligned_places(align);
    // The other bits keep these below 32: so many would be found in one chunk.
    let last = (!free | 1).leading_zeros();
    let first = (!behind | 1 << 31).trailing_zeros();
    let at = (32 - last + align - 1) & !(align - 1);
    let over = (at < 32) & (32 + first >= at + units);
    let lowest = (starts | (starts == 0) as u32).trailing_zeros();
    // Units that are free from the beginning on, but not to the end.
    let gap = (!free).trailing_zeros() & 31;
    let end = gap.wrapping_sub(units) & !(align - 1);
    let within = select((starts & 1 != 0) & (gap != 0), end, lowest);
    select(starts != 0, within, select(over, at, NO_PLACE))
}

/// Where the first block begins in a chunk whose blocks all take so many units, if they lie one behind the other from the first
/// chunk of the heap on. So blocks in chunks side by side fit together, whichever is used first.
#[allow(clippy::manual_div_ceil, reason = "that divides and compares")]
#[inline(always)]
pub(super) const fn first_place(chunk: u32, units: u32) -> u32 {
    let units = units | (units == 0) as u32;
    let begin = chunk << 5;
    (begin + units - 1) / units * units - begin
}

/// The places that are multiples of `align`, a power of two up to 32.
#[inline(always)]
const fn aligned_places(align: u32) -> u32 {
    u32::MAX / (low_mask(align) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::hash;

    #[test]
    fn aligned_places_are_multiples() {
        for log in 0..=5u32 {
            let align = 1 << log;
            for place in 0..32u32 {
                let is = aligned_places(align) >> place & 1 == 1;
                assert_eq!(is, place % align == 0, "{place} at {align}");
            }
        }
    }

    #[test]
    fn first_places_are_multiples_of_the_size() {
        for units in 1..=32 {
            for chunk in 0..2000 {
                let place = first_place(chunk, units);
                assert!(place < units);
                assert_eq!((32 * chunk + place) % units, 0);
            }
        }
    }

    /// Free units of two chunks: with long stretches, as heaps have.
    fn chunks() -> impl Iterator<Item = (u32, u32)> {
        (0..3000u32).map(|i| {
            let long = |at: u32| u32::MAX >> (hash(at) % 33).min(31) << (hash(!at) % 32);
            let free = [long(3 * i) | long(3 * i + 1), !long(3 * i + 2), u32::MAX, 0];
            (free[i as usize % 4], free[(i as usize / 4) % 4])
        })
    }

    #[test]
    fn places_are_free_and_aligned_and_found_if_there_are_some() {
        for (free, behind) in chunks() {
            let both = u64::from(behind) << 32 | u64::from(free);
            for units in 1..=32u32 {
                for align in [1, 2, 4, 8, 16, 32] {
                    let fits = |place: u32| {
                        let wanted = u64::from(low_mask(units)) << place;
                        both & wanted == wanted && place % align == 0
                    };
                    let place = place_of(free, behind, units, align);
                    let within: Vec<u32> = (0..=32 - units).filter(|&at| fits(at)).collect();
                    match within[..] {
                        [first, ..] => {
                            let begins = first == 0 && free != u32::MAX;
                            let gap = free.trailing_ones();
                            let last = within.iter().rfind(|&&at| at + units <= gap);
                            let expected = if begins { last } else { Some(&first) };
                            assert_eq!(Some(&place), expected, "{units} of {free:#x}");
                        }
                        [] => {
                            let over = (0..32).any(fits);
                            assert_eq!(place < 32, over, "{units} of {free:#x} {behind:#x}");
                            assert!(!over || fits(place), "{units} of {free:#x} {behind:#x}");
                        }
                    }
                    if place < 32 {
                        let span = Span::new(units, place);
                        assert_eq!(span.here & !free, 0);
                        assert_eq!(span.behind & !behind, 0);
                        let count = span.here.count_ones() + span.behind.count_ones();
                        assert_eq!(count, units);
                    }
                }
            }
        }
    }
}
