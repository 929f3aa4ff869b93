//! The whole row of segments in order of address, for requests that found nothing in lists and top.
//!
//! One lane at a time walks; it takes each free segment, adds the free ones behind it, keeps the first that
//! fits and puts the others back. So whatever could be merged is merged, also what the lists have in the
//! wrong bin, and a request fails only if no free stretch is long enough. `LEFT_WORD` has the longest that was
//! left when a sweep had come to the end and nobody had freed anything since it began: longer requests
//! fail at once.

use super::bins::UNKNOWN;
use super::geometry::{LARGEST_WORD, LEFT_WORD, LOCK_WORD, ROVER_WORD, TOP_WORD};
use super::segment::{is_free, size_of};
use super::{Ask, Row, SegmentLists};
use warpheap_api::{HeapMemory, least, select};

/// What `LEFT_WORD` holds while nobody has freed anything since a sweep began.
const SWEEPING: u32 = u32::MAX - 1;
/// Segments that one call looks at; the next goes on from there.
const STEPS: u32 = 1 << 12;

impl<const PER_PROCESSOR: bool> SegmentLists<PER_PROCESSOR> {
    /// A block for one lane. `busy` if somebody else sweeps, or there is more to be looked at.
    #[inline(always)]
    pub(super) fn sweep(self, ask: Ask, busy: &mut bool) -> Row {
        let mut row = Row::NONE;
        let hopeless = ask.size > self.words.load(LEFT_WORD);
        if !hopeless {
            if self.words.compare_exchange(LOCK_WORD, 0, 1) != 0 {
                *busy = true;
            } else {
                self.words.acquire();
                row = self.walk(ask, busy);
                self.words.release();
                self.words.store(LOCK_WORD, 0);
            }
        }
        row
    }

    #[inline(always)]
    fn walk(self, ask: Ask, busy: &mut bool) -> Row {
        let mut row = Row::NONE;
        let mut unit = self.words.load(ROVER_WORD);
        let mut largest = self.words.load(LARGEST_WORD);
        if unit == 0 {
            self.words.store(LEFT_WORD, SWEEPING);
            largest = 0;
        }
        let mut left = STEPS;
        let top = least(self.words.load(TOP_WORD), self.geometry.units);
        let mut end = top;
        while (row.count == 0) & (unit < end) & (left > 0) {
            left -= 1;
            let seen = self.words.load(self.geometry.state_word(unit));
            let mut size = size_of(seen);
            if is_free(seen) && self.claim(unit, seen) {
                self.words.acquire();
                size = self.swallow(unit, size, STEPS);
                if self.fits(unit, size, ask) {
                    row = self.cut(unit, size, ask, 1);
                } else {
                    largest = select(size > largest, size, largest);
                    let bin = self.make_free(unit, size);
                    if bin != u32::MAX {
                        self.link_alone(unit, bin);
                    }
                    end = least(self.words.load(TOP_WORD), end);
                }
            }
            // Where no segment begins one may begin at this moment: the next unit is looked at.
            unit += select(size == 0, 1, size);
        }
        let done = unit >= end;
        // What was free in front of the top is a part of it now.
        let lowered = self.words.load(TOP_WORD) < top;
        self.words.store(ROVER_WORD, select(done, 0, unit));
        self.words.store(LARGEST_WORD, largest);
        if done & (row.count == 0) {
            // Not if anything was freed since.
            let seen = self.words.compare_exchange(LEFT_WORD, SWEEPING, largest);
            *busy |= lowered | (seen == UNKNOWN);
        } else {
            *busy = true;
        }
        row
    }
}
