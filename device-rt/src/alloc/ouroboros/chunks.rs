//! Queues that manage chunks with free pages (§4.2, Algorithms 4 and 5).
//!
//! The semaphore counts the free pages of all chunks of a class. Who took some from it looks at the
//! chunks at the queue's front; who finds one there without a free page moves the front behind it. An
//! entry is a hint: the chunk's own header tells of which class it is and what it has, so an entry of a
//! chunk that went back to the manager does no harm and goes when the front reaches it.

use super::chunk::{LISTED, STATE, count_of, tag_of};
use super::geometry::{HEAD_BACK, HEAD_COUNT, HEAD_FRONT, NONE};
use super::queue::{Entries, Queue};
use super::{Deal, Ouroboros, Strategy};
use crate::arch;
use crate::thread;
use warpheap_api::{AllocError, HeapMemory, LaneMask, least, select};

/// Entries that a team looks at before it makes a chunk of its own.
const TRIES: u32 = 128;
/// Warps side by side begin at as many entries behind the front.
const SPREAD: u32 = 64;

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
            }
        }
        deal
    }

    #[inline(always)]
    fn release<Q: Queue>(
        heap: Ouroboros<Self, Q>,
        lanes: LaneMask,
        live: bool,
        class: u32,
        granule: u32,
    ) {
        let core = heap.core;
        let lane = arch::lane();
        let (place, page) = core.geometry.place(class, granule);
        let chunk = select(live, place, NONE);
        if live {
            core.set_page(chunk, page);
        }
        // Pages of one chunk are counted together.
        let team = arch::match_any(lanes, chunk);
        let mut list = NONE;
        if live & (lane == team.first()) {
            list = heap.count_freed(chunk, class, team.count());
        }
        heap.list_chunks(lanes, class, list);
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
    /// Counts freed pages of a chunk; the chunk if it must be listed.
    #[inline(always)]
    fn count_freed(self, chunk: u32, class: u32, pages: u32) -> u32 {
        let core = self.core;
        let count = core.geometry.head(class, HEAD_COUNT);
        let header = core.geometry.header(chunk);
        let whole = core.geometry.pages(class);
        let old = count_of(core.words.fetch_add(header + STATE, pages));
        let mut list = NONE;
        if old == 0 && core.words.exchange(header + LISTED, 1) == 0 {
            list = chunk;
        }
        let all = core.words.fetch_add(count, pages).wrapping_add(pages);
        // One chunk's pages stay, so that who allocates and frees does not make chunks each time.
        if (old + pages == whole) & (all as i32 >= 2 * whole as i32) {
            let before = core.words.fetch_sub(count, whole);
            let enough = before as i32 >= 2 * whole as i32;
            if !(enough && core.close_chunk(chunk, class)) {
                core.words.fetch_add(count, whole);
            }
        }
        list
    }

    /// Puts chunks into the queues of their classes.
    #[inline(always)]
    pub(super) fn list_chunks(self, lanes: LaneMask, class: u32, chunk: u32) {
        let lists = chunk != NONE;
        if !arch::ballot(lanes, lists).is_empty() {
            let team = arch::match_any(lanes, select(lists, class, u32::MAX));
            let team = if lists { team } else { LaneMask::EMPTY };
            let entries = Entries {
                count: team.count(),
                first: chunk,
                step: 0,
            };
            self.enqueue(lanes, team, class, entries);
        }
    }

    /// Pages of a chunk near the queue's front, for who took `there` from the semaphore.
    #[inline(always)]
    fn queued_pages(self, class: u32, there: u32) -> Deal {
        let core = self.core;
        let front_word = core.geometry.head(class, HEAD_FRONT);
        let back_word = core.geometry.head(class, HEAD_BACK);
        let warp = thread::index() / arch::warp_width();
        let mut behind = warp % SPREAD;
        let mut deal = Deal::NOTHING;
        let mut got = 0;
        let mut tries = 0;
        let mut going = true;
        while going {
            let front = core.words.load(front_word);
            let left = core.words.load(back_word).wrapping_sub(front);
            let empty = (left as i32) < 1;
            behind = select(behind < left, behind, 0);
            let position = front.wrapping_add(behind);
            let mut chunk = NONE;
            if !empty {
                chunk = core.peek::<Q>(class, position);
            }
            if chunk < core.geometry.chunks {
                let taken = core.take_pages(chunk, class, there);
                got = taken.mask.count_ones();
                if got != 0 {
                    deal = self.bits(class, chunk, taken);
                }
                if taken.last & (behind == 0) {
                    deal.list = self.pass(class, position, chunk);
                }
                behind = 0;
            } else {
                // It is being written.
                behind += 1;
            }
            tries += 1;
            going = (got == 0) & (deal.list == NONE) & !empty & (tries < TRIES);
        }
        if got != there {
            let count = core.geometry.head(class, HEAD_COUNT);
            core.words.fetch_add(count, there - got);
        }
        deal
    }

    /// Moves the front behind a chunk without a free page. The chunk if it has one again and is to be
    /// listed once more (RE_ENQUEUE of Algorithm 5).
    #[inline(always)]
    fn pass(self, class: u32, position: u32, chunk: u32) -> u32 {
        let core = self.core;
        let front = core.geometry.head(class, HEAD_FRONT);
        let header = core.geometry.header(chunk);
        let next = position.wrapping_add(1);
        let mut list = NONE;
        if core.words.compare_exchange(front, position, next) == position {
            core.empty_entry::<Q>(class, position);
            core.entries_taken::<Q>(class, position, 1);
            // Not for a chunk that serves another class by now.
            if tag_of(core.words.load(header + STATE)) == class + 1 {
                core.words.exchange(header + LISTED, 0);
                let seen = core.words.load(header + STATE);
                let open = (tag_of(seen) == class + 1) & (count_of(seen) != 0);
                if open && core.words.exchange(header + LISTED, 1) == 0 {
                    list = chunk;
                }
            }
        }
        list
    }

    /// Pages of any chunk of the class, listed or not; if there are none, wholly free chunks of all
    /// classes go back.
    #[inline(always)]
    fn any_pages(self, class: u32, wanted: u32) -> Deal {
        let core = self.core;
        let mut deal = Deal::NOTHING;
        let there = core.wait_at_once(class, wanted);
        if there != 0 {
            let chunk = core.find_open(class, thread::index());
            let mut got = 0;
            if chunk != NONE {
                let taken = core.take_pages(chunk, class, there);
                got = taken.mask.count_ones();
                deal = self.bits(class, chunk, taken);
            }
            if got != there {
                let count = core.geometry.head(class, HEAD_COUNT);
                core.words.fetch_add(count, there - got);
            }
        } else if !(self.some_idle() && self.close_idle()) & !core.coming(class) {
            deal.kind = Deal::FAILED;
            deal.base = AllocError::Exhausted.code();
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
