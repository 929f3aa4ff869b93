//! How a warp's requests are served: rounds in which each team gets pages for some of its lanes.

use super::chunk::{LISTED, Taken};
use super::enqueue::Entries;
use super::geometry::NONE;
use super::places::Known;
use super::{Deal, Ouroboros, Queue, Strategy};
use crate::arch::Group;
use crate::bits::nth_set;
use crate::sync::{Claimed, Requests, Team, Turn, in_rounds};
use crate::thread;
use warpheap_api::{AllocError, HeapMemory, least, select};

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

    /// Collective: what is left of fresh chunks goes into the queues. Each lane has its team's `base`; of the `deal`
    /// the leader has more, and the other lanes have nothing.
    #[inline(always)]
    fn share(self, team: Team, class: u32, base: u32, deal: Deal) {
        let core = self.core;
        let group = team.group();
        let fresh = deal.chunk != NONE;
        if S::PAGES {
            let surplus = select(fresh, deal.surplus, 0);
            if group.any(surplus != 0) {
                let count = team.broadcast(surplus);
                let log = core.geometry.page_log(class);
                let used = core.geometry.pages(class) - count;
                let entries = Entries {
                    count,
                    first: base.wrapping_add(used << log),
                    step: 1 << log,
                };
                let written = self.enqueue(team, class, entries);
                if surplus != 0 {
                    core.signal(class, written, deal.announced);
                }
            }
        } else {
            // Others wait for the pages, not for what else goes into the queue.
            let in_queue = deal.list == deal.chunk;
            if fresh & !in_queue {
                core.signal(class, deal.surplus, deal.announced);
            }
            self.list_chunks(group, class, deal.list);
            if fresh & in_queue {
                core.signal(class, deal.surplus, deal.announced);
            }
        }
    }

    /// Collective: the calling lane's page of those at positions of the queue that its team got; [`NONE`] if it has no
    /// position, or left it. Pages at positions that were left go back to the semaphore.
    #[inline(always)]
    fn page_at(self, turn: Turn, class: u32, claimed: Claimed) -> u32 {
        let core = self.core;
        let positions = claimed.code == Deal::POSITIONS;
        let has = turn.waits & positions & (turn.rank < claimed.share);
        let mut known = Known::NOTHING;
        let mut page = NONE;
        if has {
            let at = claimed.base.wrapping_add(turn.rank);
            page = core.take_entry::<Q>(class, at, &mut known);
        }
        let left = turn.team.ballot(has & (page == NONE)).count();
        if Q::VIRTUAL {
            // What the others took counts after it is taken.
            turn.team.group().barrier();
        }
        if turn.team.leads() & positions {
            core.entries_taken::<Q>(class, claimed.base, claimed.share, known);
            if left != 0 {
                core.signal(class, left, 0);
            }
        }
        page
    }

    /// Collective: serves the lanes whose request `fits` a page of a `class`: each gets a granule, or an error's
    /// code.
    #[inline(always)]
    pub(super) fn serve(self, group: Group, fits: bool, class: u32) -> (u32, u32) {
        let team = Team::by_key(group, select(fits, class, u32::MAX));
        let mut pages = PageRequests {
            class,
            granule: 0,
            code: 0,
            fruitless: 0,
            deal: Deal::NOTHING,
        };
        in_rounds(team, fits, self, &mut pages);
        (pages.granule, pages.code)
    }
}

/// Requests for pages. A round serves lanes of a team, or fails them, or is one of [`FRUITLESS`].
struct PageRequests {
    class: u32,
    /// What the lane got.
    granule: u32,
    /// An error's code.
    code: u32,
    /// Rounds in a row in which no lane of the team got a page.
    fruitless: u32,
    /// What a leader got in this round; of others, nothing.
    deal: Deal,
}

impl<S: Strategy, Q: Queue> Requests<Ouroboros<S, Q>, false> for PageRequests {
    #[inline(always)]
    fn claim(&mut self, heap: Ouroboros<S, Q>, wanted: u32) -> Claimed {
        self.deal = S::obtain(heap, self.class, wanted, self.fruitless & 1 != 0);
        Claimed {
            base: self.deal.base,
            share: self.deal.mask,
            code: self.deal.kind,
        }
    }

    #[inline(always)]
    fn accept(&mut self, heap: Ouroboros<S, Q>, turn: Turn, claimed: Claimed) -> bool {
        let kind = claimed.code;
        let bits = claimed.share;
        let log = heap.core.geometry.page_log(self.class);
        let mut served = turn.waits & (kind == Deal::BITS) & (turn.rank < bits.count_ones());
        let mut page = claimed.base.wrapping_add(nth_set(bits, turn.rank) << log);
        if S::PAGES {
            let taken = heap.page_at(turn, self.class, claimed);
            page = select(taken == NONE, page, taken);
            served |= taken != NONE;
        }
        self.granule = select(served, page, self.granule);
        heap.share(turn.team, self.class, claimed.base, self.deal);
        self.deal = Deal::NOTHING;
        let progress = !turn.team.ballot(served).is_empty();
        self.fruitless = select(progress, 0, self.fruitless + 1);
        let hopeless = kind == Deal::FAILED;
        let failed = !served & (hopeless | (self.fruitless >= FRUITLESS));
        let cause = select(hopeless, claimed.base, AllocError::Contended.code());
        self.code = select(turn.waits & failed, cause, self.code);
        !served & !failed
    }
}
