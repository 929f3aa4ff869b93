//! The lanes of a warp together: Algorithm 3 (CoRW).

use super::dice::Dice;
use super::sweep::SHORT_WALK;
use super::{Found, NONE, PageWalk};
use crate::arch;
use crate::bits::{low_mask, nth_set, take_from};
use crate::sync::{Group, group_sum};
use warpheap_api::{HeapMemory, LaneMask, least, select};

impl<const KIND: u32> PageWalk<KIND> {
    /// Collective: pages for the lanes that ask. All of them look, also those that have theirs or never
    /// asked, and who finds more than one page shares it.
    #[inline(always)]
    pub(super) fn walk_together(self, group: Group, asks: bool) -> Found {
        let geometry = self.geometry;
        let lane = arch::lane();
        let mut pending = group.ballot(asks);
        // The first step is one word for the warp, at a computed place.
        let home = geometry.warp_home();
        let mut got = 0;
        if group.leads() & !pending.is_empty() {
            got = self.reach_many(home, least(pending.count(), 32));
        }
        group.barrier();
        let mask = group.broadcast(got);
        let rank = pending.rank(lane);
        let served = asks & (rank < mask.count_ones());
        let page = geometry.page_at(geometry.entry_of(home), nth_set(mask, rank) & 31);
        let mut found = Found {
            page: select(served, page, NONE),
            steps: 1,
        };
        pending = group.ballot(asks & !served);
        if !pending.is_empty() {
            let mut dice = Dice::of_lanes(self.words, group);
            let mut seemed_full = false;
            let mut longest = least(geometry.walk, SHORT_WALK);
            while !pending.is_empty() & (found.steps < longest) {
                let entry = dice.below(geometry.entries());
                got = self.claim_share(group, entry, pending.count());
                let page = self.hand_out(group, pending, entry, got);
                found.page = least(found.page, page);
                pending = group.ballot(asks & (found.page == NONE));
                found.steps += 1;
                if found.steps == SHORT_WALK {
                    let walk;
                    (walk, seemed_full) = self.longest_walk();
                    // The same for all: they take their steps together.
                    longest = group.broadcast(walk);
                }
            }
            if seemed_full & (found.page != NONE) {
                self.is_not_full();
            }
            // The lanes parted.
            group.barrier();
        }
        found.steps = select(asks, found.steps, 0);
        found
    }

    /// Takes `count` pages of the word that holds this page, that one and those behind it if they are free.
    #[inline(always)]
    fn reach_many(self, page: u32, count: u32) -> u32 {
        let word = self.geometry.word(self.geometry.entry_of(page));
        let wanted = low_mask(count).rotate_left(page & 31);
        let old = self.words.fetch_or(word, wanted);
        let mut got = wanted & !old;
        let more = take_from(!(old | wanted), count - got.count_ones(), 0);
        if more != 0 {
            got |= more & !self.words.fetch_or(word, more);
        }
        got
    }

    /// Collective: each lane locks its entry and claims what is left to it of `wanted` pages after the
    /// lanes before it.
    #[inline(always)]
    fn claim_share(self, group: Group, entry: u32, wanted: u32) -> u32 {
        let (free, held) = self.lock(entry);
        let before = group_sum(group, free.count_ones()).before;
        let share = wanted - least(wanted, before);
        let take = take_from(free, least(share, 32), 0);
        let mut got = 0;
        if take != 0 {
            got = take & !self.words.fetch_or(self.geometry.word(entry), take);
        }
        self.unlock(entry, held);
        group.barrier();
        got
    }

    /// Collective: gives what the lanes got to those of `pending`, in order.
    #[inline(always)]
    fn hand_out(self, group: Group, pending: LaneMask, entry: u32, got: u32) -> u32 {
        let lane = arch::lane();
        let rank = pending.rank(lane);
        let waits = pending.contains(lane);
        let mut page = NONE;
        let mut given = 0;
        let mut givers = group.ballot(got != 0);
        while !givers.is_empty() {
            let giver = givers.first();
            let mask = group.shuffle(got, giver);
            let from = group.shuffle(entry, giver);
            let place = rank.wrapping_sub(given);
            let mine = waits & (place < mask.count_ones());
            let bit = nth_set(mask, place) & 31;
            page = select(mine, self.geometry.page_at(from, bit), page);
            given += mask.count_ones();
            givers = givers.without(LaneMask::only(giver));
        }
        page
    }
}
