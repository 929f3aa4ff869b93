//! Each lane for itself: Algorithms 1 (RW), 2 (RW-BM) and 5 (CRW).

use super::dice::Dice;
use super::sweep::SHORT_WALK;
use super::{BITMAP, CLUSTERED, Found, NONE, PageWalk};
use crate::sync::{Group, hash};
use crate::thread;
use warpheap_api::{HeapMemory, least, select};

impl<const KIND: u32> PageWalk<KIND> {
    /// Collective: pages for the lanes that ask, each on a walk of its own.
    #[inline(always)]
    pub(super) fn walk_alone(self, group: Group, asks: bool) -> Found {
        let geometry = self.geometry;
        let mut found = Found {
            page: NONE,
            steps: asks as u32,
        };
        // The first place is computed: nothing has to be read for it, and lanes of a launch have places of
        // their own. It is as good as a random one.
        let mut first = geometry.home();
        if KIND == CLUSTERED {
            // The page behind the last one; for lanes that have none a place where nobody is near.
            let behind = self.words.load(geometry.hint());
            let scattered = hash(thread::index()) % geometry.pages;
            let known = (behind != 0) & (behind < geometry.pages);
            first = select(known, behind, scattered);
        }
        if asks {
            found.page = self.reach(first);
        }
        if group.any(asks & (found.page == NONE)) {
            let mut dice = Dice::of_lanes(self.words, group);
            let mut seemed_full = false;
            let mut limit = select(asks, least(geometry.walk, SHORT_WALK), 0);
            while (found.page == NONE) & (found.steps < limit) {
                found.page = self.step(&mut dice);
                found.steps += 1;
                if (found.page == NONE) & (found.steps == SHORT_WALK) {
                    (limit, seemed_full) = self.longest_walk();
                }
            }
            if seemed_full & (found.page != NONE) {
                self.is_not_full();
            }
        }
        if KIND == CLUSTERED && found.page != NONE {
            self.words.store(geometry.hint(), found.page + 1);
        }
        // The lanes parted.
        group.barrier();
        found
    }

    /// Takes this page, or, where one word tells of others as well, one beside it.
    #[inline(always)]
    fn reach(self, page: u32) -> u32 {
        let entry = self.geometry.entry_of(page);
        let word = self.geometry.word(entry);
        let bit = self.geometry.bit_of(page);
        let old = self.words.fetch_or(word, 1 << bit);
        let mut got = old & 1 << bit == 0;
        let mut at = bit;
        let free = !old;
        if (KIND == BITMAP) & !got & (free != 0) {
            at = free.trailing_zeros();
            got = self.words.fetch_or(word, 1 << at) & 1 << at == 0;
        }
        select(got, self.geometry.page_at(entry, at), NONE)
    }

    /// One step: looks at a random entry and takes a free page of it.
    #[inline(always)]
    fn step(self, dice: &mut Dice) -> u32 {
        let geometry = self.geometry;
        if KIND == BITMAP {
            let entry = dice.below(geometry.entries());
            let (free, held) = self.lock(entry);
            // The lowest, or none.
            let take = free & free.wrapping_neg();
            let mut got = 0;
            if take != 0 {
                got = take & !self.words.fetch_or(geometry.word(entry), take);
            }
            self.unlock(entry, held);
            let page = geometry.page_at(entry, got.trailing_zeros() & 31);
            select(got != 0, page, NONE)
        } else {
            // A page; of the bitmap no more than its bit, as if each page had a word (§IV-D).
            let page = dice.below(geometry.pages);
            let word = geometry.word(geometry.entry_of(page));
            let bit = 1 << geometry.bit_of(page);
            let mut taken = self.words.load(word) & bit != 0;
            if !taken {
                taken = self.words.fetch_or(word, bit) & bit != 0;
            }
            select(taken, NONE, page)
        }
    }

    /// Tries the lock of an entry (LockMap, §IV-A): its free pages, none if another lane is at it, and
    /// whether it is held now. Nobody waits for a lock.
    #[inline(always)]
    pub(super) fn lock(self, entry: u32) -> (u32, bool) {
        // Both on the way at the same time: what is taken is claimed by an atomic `or` anyway, so it does
        // not matter which comes first.
        let locked = self.words.exchange(self.geometry.lock(entry), 1);
        let taken = self.words.load(self.geometry.word(entry));
        let held = locked == 0;
        (select(held, !taken, 0), held)
    }

    #[inline(always)]
    pub(super) fn unlock(self, entry: u32, held: bool) {
        if held {
            self.words.store(self.geometry.lock(entry), 0);
        }
    }
}
