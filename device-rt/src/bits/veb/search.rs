//! Searches through the levels.

use super::{NONE, VebTree};
use crate::bits::low_mask;
use warpheap_api::{HeapMemory, select};

impl VebTree {
    /// [`successor`](Self::successor) or [`scan`](Self::scan); [`NONE`] if there is none.
    #[inline(always)]
    pub(crate) fn next<M: HeapMemory>(self, memory: M, x: u32, scan: bool) -> u32 {
        let levels = self.levels();
        let mut level = 0;
        let mut i = x;
        let mut found = NONE;
        // Up while there is nothing further right in the word, down where there is something. A word that
        // was emptied meanwhile sends it up again, further right, so this ends.
        while (found == NONE) & (level < levels) {
            let inside = i < self.bits(level);
            let word = memory.load(self.at(level, select(inside, i, 0)));
            let word = select(inside, word & !low_mask(i & 31), 0);
            let hit = (i & !31) + (word.trailing_zeros() & 31);
            let none = word == 0;
            found = select(!none & (level == 0), hit, NONE);
            // A scan goes on with the next leaf.
            let aside = select(inside, i | 31, i.wrapping_sub(1)).wrapping_add(1);
            let next = select(scan, aside, (i >> 5) + 1);
            let above = select(scan & inside, level, select(scan, levels, level + 1));
            i = select(none, next, hit << 5);
            level = select(none, above, level.wrapping_sub((level > 0) as u32));
        }
        found
    }

    /// [`predecessor`](Self::predecessor); [`NONE`] if there is none.
    #[inline(always)]
    pub(super) fn previous<M: HeapMemory>(self, memory: M, x: u32) -> u32 {
        let levels = self.levels();
        let most = self.universe - 1;
        // Below zero there is nothing.
        let mut level = select(x == NONE, levels, 0);
        let mut i = select(x < most, x, most);
        let mut found = NONE;
        while (found == NONE) & (level < levels) {
            let word = memory.load(self.at(level, i)) & low_mask((i & 31) + 1);
            let hit = (i & !31) + (31u32.wrapping_sub(word.leading_zeros()) & 31);
            let none = word == 0;
            found = select(!none & (level == 0), hit, NONE);
            let above = select(i >> 5 == 0, levels, level + 1);
            i = select(none, (i >> 5).wrapping_sub(1), hit << 5 | 31);
            level = select(none, above, level.wrapping_sub((level > 0) as u32));
        }
        found
    }
}
