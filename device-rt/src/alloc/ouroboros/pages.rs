//! Queues that manage pages (§4.1, Algorithm 3).
//!
//! The paper's chunk of pages keeps its page size for ever, and a page for which a full queue has no
//! place is lost. Here such a page's bit in its chunk's header says that it is free (the page is
//! *spilled*). When no chunk is left, pages of other sizes are taken from their queues and spilled until a chunk
//! has all of its pages back, which then goes to the manager.

use super::enqueue::Entries;
use super::geometry::{HEAD_COUNT, HEAD_FRONT, HEAD_SPILLED, NONE};
use super::places::Known;
use super::{Deal, Ouroboros, Queue, Strategy};
use crate::arch::Group;
use crate::sync::Team;
use warpheap_api::{HeapMemory, least, select};

/// Pages that a request takes from other sizes' queues before it is served or gives up.
const MOST_DRAINED: u32 = 1 << 14;

/// Queues hold pages.
#[derive(Clone, Copy, Debug)]
pub struct Pages;

impl Strategy for Pages {
    const INDEX: u32 = 0;
    const PAGES: bool = true;

    #[inline(always)]
    fn obtain<Q: Queue>(
        heap: Ouroboros<Self, Q>,
        class: u32,
        wanted: u32,
        elsewhere: bool,
    ) -> Deal {
        let core = heap.core;
        let mut taken = 0;
        if !elsewhere {
            taken = core.wait_at_once(class, wanted);
        }
        let pages = core.geometry.pages(class);
        let surplus = pages - least(pages, wanted);
        let mut deal = Deal::NOTHING;
        if taken == 0 {
            if elsewhere {
                core.announce(class, surplus);
            } else if surplus != 0 {
                taken = core.wait(class, wanted, surplus);
            }
            if taken == 0 {
                deal = heap.fresh(class, wanted, surplus);
                if deal.chunk == NONE {
                    core.signal(class, 0, surplus);
                    deal = heap.spilled(class, wanted);
                }
            }
        }
        if taken != 0 {
            let front = core.geometry.head(class, HEAD_FRONT);
            deal.kind = Deal::POSITIONS;
            deal.base = core.take_positions::<Q>(front, taken);
            deal.mask = taken;
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
        let team = Team::by_key(group, select(live, class, u32::MAX));
        let written = heap.enqueue(team, class, Entries::one_each(team, live, granule));
        if live & team.leads() {
            heap.core.signal(class, written, 0);
        }
    }

    #[inline(always)]
    fn collect<Q: Queue>(heap: Ouroboros<Self, Q>) -> bool {
        heap.drain(u32::MAX, true)
    }

    #[inline(always)]
    fn keep<Q: Queue>(heap: Ouroboros<Self, Q>, class: u32, entry: u32) {
        heap.spill(class, entry);
    }
}

impl<Q: Queue> Ouroboros<Pages, Q> {
    /// Sets the bit of a free page; whether its chunk went to the manager.
    #[inline(always)]
    fn spill(self, class: u32, granule: u32) -> bool {
        let core = self.core;
        let spilled = core.geometry.head(class, HEAD_SPILLED);
        let (chunk, page) = core.geometry.place(class, granule);
        // Whose page it was may be known from an entry that was read.
        core.words.acquire();
        core.words.release();
        core.set_page(chunk, page);
        // The bit is there before it counts: a chunk that counts as free may get another use.
        core.words.release();
        core.words.fetch_add(spilled, 1);
        let closed = core.count_pages(chunk, class, 1) && core.close_chunk(chunk, class);
        if closed {
            core.words.fetch_sub(spilled, core.geometry.pages(class));
        }
        closed
    }

    /// Pages that were spilled; if there are none, what other sizes' queues have.
    #[inline(always)]
    fn spilled(self, class: u32, wanted: u32) -> Deal {
        let core = self.core;
        let (some, mut deal) = self.open_pages(class, HEAD_SPILLED, wanted);
        if !some && !self.drain(class, core.geometry.units_log(class) != 0) {
            deal = self.nothing_left(class);
        }
        deal
    }

    /// Spills pages of other classes until a chunk is free, or as many as may be; whether one is.
    #[inline(always)]
    fn drain(self, class: u32, all: bool) -> bool {
        let core = self.core;
        let mut closed = false;
        let mut left = MOST_DRAINED;
        let mut other = core.first;
        while (!closed | all) & (other < core.end) & (left != 0) {
            let count = core.geometry.head(other, HEAD_COUNT);
            let part = least(core.geometry.pages(other), left);
            let mut there = 0;
            if (other != class) & (core.words.load(count) as i32 > 0) {
                there = core.take_of(count, part);
            }
            if there == 0 {
                other += 1;
            } else {
                left -= there;
                let front = core.geometry.head(other, HEAD_FRONT);
                let position = core.take_positions::<Q>(front, there);
                let mut known = Known::NOTHING;
                let mut i = 0;
                while i < there {
                    let at = position.wrapping_add(i);
                    let page = core.take_entry::<Q>(other, at, &mut known);
                    if page == NONE {
                        core.words.fetch_add(count, 1);
                    } else {
                        closed |= self.spill(other, page);
                    }
                    i += 1;
                }
                core.entries_taken::<Q>(other, position, there, known);
            }
        }
        closed
    }
}
