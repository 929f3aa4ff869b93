//! Free: one `and` for the blocks of a word, and one subtraction from the chunk's count. Nobody waits
//! for either.

use super::{Ask, WarpHeap};
use crate::arch::Group;
use crate::bits::low_mask;
use crate::sync::Team;
use warpheap_api::{DevicePtr, HeapMemory, LaneMask, select};

impl WarpHeap {
    /// Collective: frees the blocks that lie in slabs. Whether a lane has a larger one, the same in all lanes.
    #[inline(always)]
    pub(super) fn free_quick<const FULL: bool>(
        self,
        group: Group<FULL>,
        ask: Ask,
        ptr: DevicePtr<u8>,
    ) -> bool {
        group.release();
        let (words, geometry) = (self.words, self.geometry);
        let (slab, class) = self.class_of(ask);
        let live = !ptr.is_null();
        let mine = live & slab;
        let granule = select(mine, ptr.granule(), geometry.data);
        let chunk = geometry.chunk_of(granule);
        let block = class.block_at(geometry.offset_of(granule));
        let word = geometry.bits_word(chunk) as u32 + (block >> 5);
        // No word of bits is word 0.
        let team = Team::by_key(group, select(mine, word, 0));
        let bit = block & 31;
        // Lanes usually have their blocks in order, one behind the other: then all know where they begin.
        let begin = bit.wrapping_sub(team.rank());
        let in_order = begin == team.broadcast(begin);
        let mut mask = low_mask(team.count()) << (begin & 31);
        if group.any(mine & !in_order) {
            mask = team.union_to_leader(select(mine, 1 << bit, 0));
        }
        if mine & team.leads() {
            words.fetch_and(word as usize, !mask);
            words.fetch_sub(geometry.state_word(chunk), team.count());
        }
        group.any(live & !slab)
    }

    /// Collective: frees the larger blocks, runs one after the other and all lanes together.
    #[inline(always)]
    pub(super) fn free_large(self, group: Group, ask: Ask, ptr: DevicePtr<u8>) {
        let (slab, _) = self.class_of(ask);
        let mine = !ptr.is_null() & !slab;
        let units = self.units_of(ask);
        let run = self.is_run(ask);
        if mine & !run {
            self.free_units(ptr.granule(), units);
        }
        let mut left = group.ballot(mine & run);
        while !left.is_empty() {
            let first = left.first();
            let chunk = self.geometry.chunk_of(ptr.granule());
            let chunk = group.shuffle(chunk, first);
            let units = group.shuffle(units, first);
            self.free_run(group, chunk, units);
            left = left.without(LaneMask::only(first));
        }
    }
}
