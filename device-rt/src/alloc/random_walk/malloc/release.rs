//! Free: units by clearing their bits, small blocks by clearing their marks; whoever clears the last mark
//! of a unit clears its bit.

use super::geometry::part_of_run;
use super::{Ask, RandomWalkMalloc};
use crate::bits::low_mask;
use crate::sync::{Group, Team};
use warpheap_api::{HeapMemory, select};

impl RandomWalkMalloc {
    /// Collective: frees the blocks of the lanes with `live`.
    #[inline(always)]
    pub(super) fn free_blocks(self, group: Group, live: bool, ask: Ask, granule: u32) {
        let geometry = self.geometry;
        let granule = select(live, granule, geometry.granule_of(0));
        let unit = geometry.unit_of(granule);
        // In a word of marks there are two units, in one of the map 32.
        let pair = unit >> 1;
        let field = (unit & 1) * 16;
        let slot = geometry.slot_of(granule);
        let marks = low_mask(ask.slots) << slot;
        let in_unit = low_mask(1 << geometry.slots_log());
        let word = select(
            ask.small,
            geometry.mark_word(pair) as u32,
            geometry.map(unit >> 5) as u32,
        );
        let bits = select(
            ask.small,
            (marks & in_unit) << field,
            part_of_run(unit >> 5, unit, ask.units),
        );
        // Blocks of a warp usually lie side by side. No table begins at word 0.
        let team = Team::by_key(group, select(live, word, 0));
        let bits = team.union_to_leader(select(live, bits, 0));
        let leads = live & team.leads();
        if leads & ask.small {
            self.clear_marks(pair, bits);
        }
        if leads & !ask.small {
            self.words.fetch_and(word as usize, !bits);
        }
        let rest = marks >> (1 << geometry.slots_log());
        if live & ask.small & (rest != 0) {
            let next = unit + 1;
            self.clear_marks(next >> 1, rest << ((next & 1) * 16));
        }
        if live & !ask.small {
            let last = (unit + ask.units - 1) >> 5;
            let mut at = unit >> 5;
            while at < last {
                at += 1;
                let part = part_of_run(at, unit, ask.units);
                self.words.fetch_and(geometry.map(at), !part);
            }
        }
    }

    /// Clears marks of a pair of units, and the bits of those that have none left.
    #[inline(always)]
    fn clear_marks(self, pair: u32, marks: u32) {
        let word = self.geometry.mark_word(pair);
        let left = self.words.fetch_and(word, !marks) & !marks;
        let low = (marks & 0xffff != 0) & (left & 0xffff == 0);
        let high = (marks >> 16 != 0) & (left >> 16 == 0);
        let gone = low as u32 | (high as u32) << 1;
        if gone != 0 {
            // What others wrote who freed their part of the unit before comes before its next owner.
            self.words.acquire();
            self.words.release();
            let unit = pair << 1;
            self.words
                .fetch_and(self.geometry.map(unit >> 5), !(gone << (unit & 31)));
        }
    }
}
