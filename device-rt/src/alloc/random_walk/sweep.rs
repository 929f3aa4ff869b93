//! What a warp does for lanes whose walks were too long: through the whole map in order.
//!
//! A random walk alone never learns that there is nothing. So it is bounded, and then all lanes of
//! the warp look at entries side by side, twice through the map: a page may be free behind the first look.

use super::{Found, NONE, PageWalk};
use crate::arch;
use crate::bits::nth_lane;
use crate::sync::Group;
use warpheap_api::{AllocError, HeapMemory, LaneMask, select};

impl<const KIND: u32> PageWalk<KIND> {
    /// Collective: pages for the lanes that are `missing` one. For those without one afterwards the second
    /// value is the error's code.
    #[inline(always)]
    pub(super) fn sweep(self, group: Group, missing: LaneMask, found: Found) -> (Found, u32) {
        let geometry = self.geometry;
        let entries = geometry.entries();
        let lane = arch::lane();
        let rank = group.rank();
        // Not where all others begin.
        let start = group.broadcast(geometry.entry_of(geometry.home()));
        let mut found = found;
        let mut pending = missing;
        let mut doubt = false;
        let mut again = false;
        let mut done = 0;
        while !pending.is_empty() & (done < entries) {
            let at = done + rank;
            let inside = at < entries;
            let place = start + select(inside, at, 0);
            let entry = place - select(place >= entries, entries, 0);
            let word = geometry.word(entry);
            let taken = self.words.load(word);
            let free = select(inside, !taken & geometry.bits(), 0);
            let some = group.ballot(free != 0);
            let tries = (free != 0) & (some.rank(lane) < pending.count());
            let bit = free.trailing_zeros() & 31;
            let mut page = NONE;
            if tries && self.words.fetch_or(word, 1 << bit) & 1 << bit == 0 {
                page = geometry.page_at(entry, bit);
            }
            group.barrier();
            let givers = group.ballot(page != NONE);
            doubt |= group.any(tries & (page == NONE));
            let place = pending.rank(lane);
            let served = pending.contains(lane) & (place < givers.count());
            let giver = nth_lane(givers, select(served, place, 0)) & 63;
            let page = group.shuffle(page, select(served, giver, lane));
            found.page = select(served, page, found.page);
            found.steps += pending.contains(lane) as u32;
            pending = group.ballot(missing.contains(lane) & (found.page == NONE));
            // Who found something looks there again: every round serves somebody or moves on.
            done += select(givers.is_empty(), group.count(), 0);
            let repeat = (done >= entries) & !again;
            again |= repeat;
            doubt &= !repeat;
            done = select(repeat, 0, done);
        }
        let contended = AllocError::Contended.code();
        (
            found,
            select(doubt, contended, AllocError::Exhausted.code()),
        )
    }
}
