//! The first forbidden outcome of a launch.

use warpheap::device::*;

/// Words of an example: what kind it is (not zero), the tester, the place, what was expected and what was found.
pub const EXAMPLE_WORDS: usize = 5;

/// Leaves an example at `at` of the tally, unless another lane was faster.
#[inline(always)]
pub fn leave(
    tally: &[AtomicWord],
    at: usize,
    kind: u32,
    lane: u32,
    place: u32,
    expected: u32,
    found: u32,
) {
    if at + EXAMPLE_WORDS <= tally.len() && tally[at].compare_exchange(0, kind) == 0 {
        tally[at + 1].store(lane);
        tally[at + 2].store(place);
        tally[at + 3].store(expected);
        tally[at + 4].store(found);
    }
}
