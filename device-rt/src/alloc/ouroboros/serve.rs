//! How a warp's requests are served: rounds in which each team gets pages for some of its lanes.

use super::chunk::{LISTED, Taken};
use super::enqueue::Entries;
use super::geometry::NONE;
use super::places::Known;
use super::{Deal, Ouroboros, Queue, Strategy};
use crate::arch;
use crate::bits::nth_set;
use crate::thread;
use warpheap_api::{AllocError, HeapMemory, LaneMask, least, select};

/// Rounds in a row without a page after which a team gives up.
const FRUITLESS: u32 = 24;

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// A chunk from the manager: its first pages for the team, the others announced as surplus.
    #[inline(always)]
    pub(super) fn fresh(self, class: u32, wanted: u32, surplus: u32) -> Deal {
        let core = self.core;
        let mut deal = Deal::NOTHING;
        let chunk = core.take_chunk(core.geometry.units_log(class));
        if chunk != NONE {
            let used = core.geometry.pages(class) - surplus;
            // A word's worth of pages at a time.
            let used = least(used, least(wanted, 32));
            core.open_chunk(chunk, class, used, !S::PAGES);
            deal.kind = Deal::BITS;
            deal.base = core.geometry.granule(chunk);
            deal.mask = u32::MAX >> (32 - used);
            deal.chunk = chunk;
            deal.surplus = core.geometry.pages(class) - used;
            deal.announced = surplus;
            if !S::PAGES & (deal.surplus != 0) {
                core.words.store(core.geometry.header(chunk) + LISTED, 1);
                deal.list = chunk;
            }
        }
        deal
    }

    /// Pages that were taken from a chunk's bits.
    #[inline(always)]
    pub(super) fn bits(self, class: u32, chunk: u32, taken: Taken) -> Deal {
        let mut deal = Deal::NOTHING;
        let log = self.core.geometry.page_log(class);
        deal.kind = select(taken.mask != 0, Deal::BITS, deal.kind);
        deal.base = self.core.geometry.granule(chunk) + (taken.first << log);
        deal.mask = taken.mask;
        deal
    }

    /// Pages of any chunk of the class whose bits have some, of as many as a word of the class's head
    /// counts; whether it counted any.
    #[inline(always)]
    pub(super) fn open_pages(self, class: u32, counted: usize, wanted: u32) -> (bool, Deal) {
        let core = self.core;
        let count = core.geometry.head(class, counted);
        let mut deal = Deal::NOTHING;
        let there = core.take_of(count, wanted);
        if there != 0 {
            let chunk = core.find_open(class, thread::index());
            let mut got = 0;
            if chunk != NONE {
                let taken = core.take_pages(chunk, class, there);
                got = taken.mask.count_ones();
                deal = self.bits(class, chunk, taken);
            }
            if got != there {
                core.words.fetch_add(count, there - got);
            }
        }
        (there != 0, deal)
    }

    /// The answer where no page was found.
    #[inline(always)]
    pub(super) fn nothing_left(self, class: u32) -> Deal {
        let mut deal = Deal::NOTHING;
        // Pages that others are about to bring, or put back.
        if !self.core.coming(class) {
            deal.kind = Deal::FAILED;
            deal.base = AllocError::Exhausted.code();
        }
        deal
    }

    /// What is left of fresh chunks goes into the queues.
    #[inline(always)]
    fn share(self, lanes: LaneMask, team: LaneMask, class: u32, deal: Deal) {
        let core = self.core;
        let lane = arch::lane();
        let source = select(team.is_empty(), lane, team.first());
        let leads = lane == team.first();
        if S::PAGES {
            let surplus = select(leads & (deal.chunk != NONE), deal.surplus, 0);
            if !arch::ballot(lanes, surplus != 0).is_empty() {
                let surplus = arch::shuffle(lanes, surplus, source);
                let base = arch::shuffle(lanes, deal.base, source);
                let log = core.geometry.page_log(class);
                let used = core.geometry.pages(class) - surplus;
                let team = if surplus != 0 { team } else { LaneMask::EMPTY };
                let entries = Entries {
                    count: surplus,
                    first: base.wrapping_add(used << log),
                    step: 1 << log,
                };
                let written = self.enqueue(lanes, team, class, entries);
                if leads & (surplus != 0) {
                    core.signal(class, written, deal.announced);
                }
            }
        } else {
            // Others wait for the pages, not for what else goes into the queue.
            let fresh = leads & (deal.chunk != NONE);
            let in_queue = deal.list == deal.chunk;
            if fresh & !in_queue {
                core.signal(class, deal.surplus, deal.announced);
            }
            self.list_chunks(lanes, class, select(leads, deal.list, NONE));
            if fresh & in_queue {
                core.signal(class, deal.surplus, deal.announced);
            }
        }
    }

    /// Serves the lanes that have a `class`: each gets a granule, or an error's code.
    #[inline(always)]
    pub(super) fn serve(self, lanes: LaneMask, fits: bool, class: u32) -> (u32, u32) {
        let core = self.core;
        let lane = arch::lane();
        let team = arch::match_any(lanes, select(fits, class, u32::MAX));
        let (mut granule, mut code, mut fruitless) = (0, 0, 0);
        let mut pending = arch::ballot(lanes, fits);
        while !pending.is_empty() {
            let mine = pending.and(team);
            let leader = mine.first();
            let mut deal = Deal::NOTHING;
            if lane == leader {
                deal = S::obtain(self, class, mine.count(), fruitless & 1 != 0);
            }
            arch::warp_barrier(lanes);
            let source = select(mine.is_empty(), lane, leader);
            let kind = arch::shuffle(lanes, deal.kind, source);
            let base = arch::shuffle(lanes, deal.base, source);
            let mask = arch::shuffle(lanes, deal.mask, source);
            let waits = pending.contains(lane);
            let rank = mine.rank(lane);
            let log = core.geometry.page_log(class);
            let mut served = waits & (kind == Deal::BITS) & (rank < mask.count_ones());
            let page = base.wrapping_add(nth_set(mask, rank) << log);
            granule = select(served, page, granule);
            if S::PAGES {
                let has = waits & (kind == Deal::POSITIONS) & (rank < mask);
                let mut known = Known::NOTHING;
                if has {
                    let at = base.wrapping_add(rank);
                    let page = core.take_entry::<Q>(class, at, &mut known);
                    served = page != NONE;
                    granule = select(served, page, granule);
                }
                let left = arch::ballot(lanes, has & !served).and(mine).count();
                if (lane == leader) & (kind == Deal::POSITIONS) {
                    core.entries_taken::<Q>(class, base, mask, known);
                    if left != 0 {
                        core.signal(class, left, 0);
                    }
                }
            }
            self.share(lanes, mine, class, deal);
            let progress = !arch::ballot(lanes, served).and(mine).is_empty();
            fruitless = select(progress, 0, fruitless + 1);
            let gives_up = fruitless >= FRUITLESS;
            let failed = waits & !served & ((kind == Deal::FAILED) | gives_up);
            let cause = select(kind == Deal::FAILED, base, AllocError::Contended.code());
            code = select(failed, cause, code);
            pending = arch::ballot(lanes, waits & !served & !failed);
        }
        (granule, code)
    }
}
