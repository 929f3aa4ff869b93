//! Free: one `and` for the blocks of a word, and one subtraction from the chunk's count. Nobody waits
//! for either.

use super::class::Class;
use super::{Ask, WarpHeap};
use crate::arch;
use crate::bits::low_mask;
use crate::sync::or_to_first;
use warpheap_api::{HeapMemory, LaneMask, select};

impl WarpHeap {
    /// Frees the blocks of the lanes with `mine`. Called by exactly `lanes`.
    #[inline(always)]
    pub(super) fn free_blocks(self, lanes: LaneMask, mine: bool, class: Class, granule: u32) {
        let (words, geometry) = (self.words, self.geometry);
        let lane = arch::lane();
        let granule = select(mine, granule, geometry.data);
        let chunk = geometry.chunk_of(granule);
        let block = class.block_at(geometry.offset_of(granule));
        let word = geometry.bits_word(chunk) as u32 + (block >> 5);
        // No word of bits is word 0.
        let team = arch::match_any(lanes, select(mine, word, 0));
        let leader = team.first();
        let bit = block & 31;
        // Lanes usually have their blocks in order, one behind the other.
        let first = arch::shuffle(lanes, bit, leader);
        let in_order = bit == first + team.rank(lane);
        let mut mask = low_mask(team.count()) << bit;
        if !arch::ballot(lanes, mine & !in_order).is_empty() {
            mask = or_to_first(lanes, team, select(mine, 1 << bit, 0));
        }
        if mine & (lane == leader) {
            words.fetch_and(word as usize, !mask);
            words.fetch_sub(geometry.state_word(chunk), team.count());
        }
    }

    /// Frees the larger blocks of the lanes with `mine`, one after the other, all of `lanes` together.
    #[inline(always)]
    pub(super) fn free_large(self, lanes: LaneMask, mine: bool, ask: Ask, granule: u32) {
        let units = self.units_of(ask);
        let run = self.is_run(ask);
        if mine & !run {
            self.free_units(granule, units);
        }
        let mut left = arch::ballot(lanes, mine & run);
        while !left.is_empty() {
            let first = left.first();
            let chunk = self.geometry.chunk_of(granule);
            let chunk = arch::shuffle(lanes, chunk, first);
            let units = arch::shuffle(lanes, units, first);
            self.free_run(lanes, chunk, units);
            left = left.without(LaneMask::only(first));
        }
    }
}
