//! The first fit: from the bin of the request's size to larger ones, from the set of the lane's
//! multiprocessor to the others'.

use super::geometry::BINS;
use super::{Ask, Row, SegmentLists, bin_of};

impl<const PER_PROCESSOR: bool> SegmentLists<PER_PROCESSOR> {
    /// Up to `most` blocks side by side from the lists. The first look (`everywhere` false) goes through the
    /// lane's own set, by what a near cache says of it; the later ones through all sets.
    #[inline(always)]
    pub(super) fn search(
        self,
        ask: Ask,
        most: u32,
        steps: u32,
        everywhere: bool,
        busy: &mut bool,
    ) -> Row {
        let mut row = Row::NONE;
        let lowest = bin_of(ask.size);
        let mut set = self.home();
        let mut bin = lowest;
        let mut lists = (BINS - lowest) * if everywhere { self.geometry.sets } else { 1 };
        while (row.count == 0) & (lists > 0) {
            lists -= 1;
            let list = self.geometry.list_word(set, bin);
            if self.may_have(list, everywhere) {
                row = self.first_fit(list, ask, most, steps, busy);
            }
            bin += 1;
            if bin == BINS {
                bin = lowest;
                set += 1;
                if set == self.geometry.sets {
                    set = 0;
                }
            }
        }
        row
    }
}
