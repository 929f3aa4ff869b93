//! Queues that manage chunks with free pages (§4.2, Algorithms 4 and 5).
//!
//! The semaphore counts the free pages of all chunks of a class. Who took some from it looks at a chunk
//! in a slot; who finds it without a free page puts the one at the queue's front there. An
//! entry is a hint: the chunk's own header tells of which class it is and what it has, so an entry of a
//! chunk that went back to the manager does no harm and goes when the front reaches it.

use super::chunk::{LISTED, STATE, count_of, tag_of};
use super::geometry::{HEAD_COUNT, NONE};
use super::{Deal, Ouroboros, Queue, Strategy};
use crate::arch::{self, Group};
use crate::sync::Team;
use warpheap_api::{HeapMemory, least, select};

/// Queues hold chunks.
#[derive(Clone, Copy, Debug)]
pub struct Chunks;

impl Strategy for Chunks {
    const INDEX: u32 = 1;
    const PAGES: bool = false;

    #[inline(always)]
    fn obtain<Q: Queue>(
        heap: Ouroboros<Self, Q>,
        class: u32,
        wanted: u32,
        _elsewhere: bool,
    ) -> Deal {
        let core = heap.core;
        let pages = core.geometry.pages(class);
        let surplus = pages - least(pages, wanted);
        let mut there = core.wait_at_once(class, wanted);
        let mut deal = Deal::NOTHING;
        if (there == 0) & (surplus != 0) {
            there = core.wait(class, wanted, surplus);
            deal.announced = select(there == 0, surplus, 0);
        }
        if there != 0 {
            deal = heap.queued_pages(class, there);
        }
        if (deal.kind == Deal::NOTHING.kind) & (deal.list == NONE) {
            let announced = deal.announced;
            deal = heap.fresh(class, wanted, surplus);
            if deal.chunk == NONE {
                core.signal(class, 0, announced);
                deal = heap.any_pages(class, wanted);
            } else {
                deal.announced = announced;
                if deal.list != NONE {
                    deal.list = heap.offer(class, deal.list);
                }
            }
        }
        deal
    }

    #[inline(always)]
    fn release<Q: Queue>(
        heap: Ouroboros<Self, Q>,
        group: Group,
        live: bool,
        class: u32,
        granule: u32,
    ) {
        let core = heap.core;
        let (place, page) = core.geometry.place(class, granule);
        let chunk = select(live, place, NONE);
        if live {
            core.set_page(chunk, page);
        }
        // All bits are there before they count: a chunk that counts as free may get another use.
        group.release();
        // Pages of one chunk are counted together.
        let team = Team::by_key(group, chunk);
        let pages = core.geometry.pages(class);
        let leads = live & team.leads();
        let mut old = 1;
        if leads {
            let at = core.geometry.header(chunk) + STATE;
            old = count_of(core.words.fetch_add(at, team.count()));
        }
        let whole = leads & (old + team.count() == pages);
        let closed = heap.count_freed(group, live, class, chunk, whole);
        // Who found it without a free page, unless it is gone already.
        let mut list = NONE;
        if leads & (old == 0) & !closed {
            let listed = core.geometry.header(chunk) + LISTED;
            list = select(core.words.exchange(listed, 1) == 0, chunk, NONE);
        }
        heap.list_chunks(group, class, list);
    }

    #[inline(always)]
    fn collect<Q: Queue>(heap: Ouroboros<Self, Q>) -> bool {
        heap.some_idle() && heap.close_idle()
    }

    #[inline(always)]
    fn keep<Q: Queue>(heap: Ouroboros<Self, Q>, _class: u32, entry: u32) {
        let listed = heap.core.geometry.header(entry) + LISTED;
        heap.core.words.store(listed, 0);
    }
}

impl<Q: Queue> Ouroboros<Chunks, Q> {
    /// Collective: counts the pages that `live` lanes freed, and gives back chunks that are `whole`; whether this lane's
    /// was given back.
    #[inline(always)]
    fn count_freed(self, group: Group, live: bool, class: u32, chunk: u32, whole: bool) -> bool {
        let core = self.core;
        let count = core.geometry.head(class, HEAD_COUNT);
        let pages = core.geometry.pages(class);
        let class_team = Team::by_key(group, select(live, class, u32::MAX));
        let leads = live & class_team.leads();
        let wholes = class_team.ballot(whole);
        let mut closing = 0;
        if leads {
            let freed = class_team.count();
            let all = core.words.fetch_add(count, freed).wrapping_add(freed);
            // One chunk's pages stay, so that who allocates and frees does not make chunks each time.
            let spare = select(all as i32 > 0, all, 0) / pages;
            closing = least(wholes.count(), select(spare == 0, 0, spare.wrapping_sub(1)));
            if closing != 0 {
                let before = core.words.fetch_sub(count, closing * pages) as i32;
                if before < ((closing + 1) * pages) as i32 {
                    core.words.fetch_add(count, closing * pages);
                    closing = 0;
                }
            }
        }
        group.barrier();
        let closing = class_team.broadcast(closing);
        let tries = whole & (wholes.rank(arch::lane()) < closing);
        let closed = tries && core.leave_chunk(chunk, class);
        if closed {
            core.give_bits(chunk, core.geometry.units_log(class));
        }
        let all_closed = class_team.ballot(closed).count();
        if leads & (closing != 0) {
            if all_closed != 0 {
                core.count_given(all_closed, core.geometry.units_log(class));
            }
            if all_closed != closing {
                core.words.fetch_add(count, (closing - all_closed) * pages);
            }
        }
        group.barrier();
        closed
    }

    /// Pages of any chunk of the class, listed or not; if there are none, wholly free chunks of all
    /// classes go back.
    #[inline(always)]
    fn any_pages(self, class: u32, wanted: u32) -> Deal {
        let (some, mut deal) = self.open_pages(class, HEAD_COUNT, wanted);
        if !(some || self.some_idle() && self.close_idle()) {
            deal = self.nothing_left(class);
        }
        deal
    }

    /// Whether some class has so many free pages that a chunk may be wholly free.
    #[inline(always)]
    fn some_idle(self) -> bool {
        let core = self.core;
        let mut some = false;
        let mut class = core.first;
        while class < core.end {
            let count = core.words.load(core.geometry.head(class, HEAD_COUNT));
            some |= count as i32 >= core.geometry.pages(class) as i32;
            class += 1;
        }
        some
    }

    /// Gives wholly free chunks back; whether there was one.
    #[inline(always)]
    fn close_idle(self) -> bool {
        let core = self.core;
        let mut closed = false;
        let mut chunk = 0;
        while chunk < core.geometry.chunks {
            let seen = core.words.load(core.geometry.header(chunk) + STATE);
            let class = tag_of(seen).wrapping_sub(1);
            if (class >= core.first) & (class < core.end) {
                let pages = core.geometry.pages(class);
                let count = core.geometry.head(class, HEAD_COUNT);
                if count_of(seen) == pages && core.take_all(count, pages) {
                    let done = core.close_chunk(chunk, class);
                    if !done {
                        core.words.fetch_add(count, pages);
                    }
                    closed |= done;
                }
            }
            chunk += 1;
        }
        closed
    }
}
