//! Requests of more than a page: runs of pages that follow each other (§6.3).
//!
//! A run belongs to whoever changed the states of all of its pages from free, page by page from the
//! front. Who meets a page that is not free gives back those that it had and looks on behind it; of
//! lanes that want overlapping runs the one in front gives way, so one of them gets its run. The
//! reserved super blocks come first, each lane from a place of its own.

use super::state::{FREE, MULTI_HEAD, MULTI_TAIL, pack};
use super::{Chunk, NONE, ScatterAlloc};
use crate::thread;
use warpheap_api::{AllocError, HeapMemory, least, select};

/// Pages that are looked at in the reserved super blocks before the search goes everywhere.
const PROBES: u32 = 64;
/// Searches through everything while others claim and give back the same pages.
const SEARCHES: u32 = 8;

/// A search for a run.
#[derive(Clone, Copy)]
struct Found {
    /// First page of the run.
    page: u32,
    /// Whether there is one.
    yes: bool,
    /// Whether another lane was faster somewhere.
    contended: bool,
}

impl ScatterAlloc {
    /// Claims a run of pages for the calling lane alone.
    ///
    /// Lanes begin as far from each other as the runs before theirs are long, first in the reserved
    /// super blocks, then from there on and around.
    #[inline(always)]
    pub(super) fn malloc_run(self, pages: u32, align: u32) -> Chunk {
        let blocks = self.cursor().blocks;
        let end = self.page_limit(blocks);
        let reserved = self.page_limit(blocks - self.geometry.reserved);
        let place = thread::index().wrapping_mul(pages);
        let mut found = Found {
            page: 0,
            yes: false,
            contended: true,
        };
        let mut search = 0;
        while !found.yes & found.contended & (pages <= end) & (search <= SEARCHES) {
            // A search that ends early says nothing about the rest.
            found.contended = search == 0;
            if search != 0 {
                let start = (reserved + place % end) % end;
                found = self.find_run(0, end, start, pages, align, u32::MAX);
            } else if end - reserved >= pages {
                let start = reserved + place % (end - reserved);
                found = self.find_run(reserved, end, start, pages, align, PROBES);
                found.contended = true;
            }
            search += 1;
        }
        if found.yes {
            self.count_run(found.page, pages, 1);
            return Chunk {
                granule: self.geometry.page_granule(found.page),
                code: 0,
            };
        }
        Chunk {
            granule: NONE,
            code: select(
                found.contended & (pages <= end),
                AllocError::Contended.code(),
                AllocError::Exhausted.code(),
            ),
        }
    }

    /// Gives a run of pages back.
    #[inline(always)]
    pub(super) fn free_run(self, first: u32, pages: u32) {
        self.count_run(first, pages, u32::MAX);
        self.release_pages(first, pages);
    }

    /// Pages of the first `blocks` super blocks.
    #[inline(always)]
    fn page_limit(self, blocks: u32) -> u32 {
        // The last super block may have fewer pages than the others.
        select(
            blocks < self.geometry.blocks_for(self.geometry.pages),
            blocks << self.geometry.block_shift(),
            self.geometry.pages,
        )
    }

    /// Looks for free pages between `first` and `end`, from `start` to the end and then from the
    /// front, and claims them. Looks at no more than `most` pages.
    #[inline(always)]
    fn find_run(
        self,
        first: u32,
        end: u32,
        start: u32,
        pages: u32,
        align: u32,
        most: u32,
    ) -> Found {
        let mut found = Found {
            page: 0,
            yes: false,
            contended: false,
        };
        let mut page = start;
        let mut limit = end;
        let mut run = 0;
        let mut around = false;
        let mut probes = 0;
        while !found.yes & (probes < most) & !(around & (page >= limit)) {
            if page >= limit {
                // From the front, up to runs that begin before the start.
                around = true;
                run = 0;
                page = first;
                limit = if pages - 1 < end - start {
                    start + pages - 1
                } else {
                    end
                };
            } else if run == 0 && self.geometry.page_granule(page) & (align - 1) != 0 {
                page += 1;
            } else {
                // Once for each region, and where the search begins.
                let look = page & (self.geometry.region_pages() - 1) == 0 || probes == 0;
                let skip = if run == 0 && look {
                    self.full_pages_at(page)
                } else {
                    0
                };
                if skip != 0 {
                    page += skip;
                } else {
                    probes += 1;
                    let free = self.words.load(self.geometry.state_word(page)) == FREE;
                    run = select(free, run + 1, 0);
                    page += 1;
                    if run == pages {
                        let claimed = self.claim_run(page - pages, pages);
                        found.page = page - pages;
                        found.yes = claimed == pages;
                        found.contended |= claimed != pages;
                        page = found.page + claimed + 1;
                        run = 0;
                    }
                }
            }
        }
        found
    }

    /// Pages from `page` on that need not be looked at since their super block or region is full; 0
    /// if they must.
    #[inline(always)]
    fn full_pages_at(self, page: u32) -> u32 {
        let block = page >> self.geometry.block_shift();
        let mut skip = 0;
        if self.passes_region(page, false) {
            let rest = page & (self.geometry.region_pages() - 1);
            skip = self.geometry.region_pages() - rest;
            if self.passes_block(block, false) {
                skip = self.geometry.pages_of_block(block) - self.geometry.page_in_block(page);
            }
        }
        skip
    }

    /// Changes the states of `pages` pages from free, from the front on: how many; if not all, those
    /// were given back.
    #[inline(always)]
    fn claim_run(self, first: u32, pages: u32) -> u32 {
        let mut claimed = 0;
        let mut free = true;
        while free & (claimed < pages) {
            let code = select(claimed == 0, MULTI_HEAD, MULTI_TAIL);
            let at = self.geometry.state_word(first + claimed);
            free = self.words.compare_exchange(at, FREE, pack(code, 0)) == FREE;
            claimed += free as u32;
        }
        if claimed < pages {
            self.release_pages(first, claimed);
        }
        claimed
    }

    /// Makes the pages of a run free. By subtraction: a lane that took a page for another kind may
    /// have added to its count and not taken it back yet.
    #[inline(always)]
    fn release_pages(self, first: u32, pages: u32) {
        let mut i = 0;
        while i < pages {
            let code = select(i == 0, MULTI_HEAD, MULTI_TAIL);
            self.words
                .fetch_sub(self.geometry.state_word(first + i), pack(code, 0));
            i += 1;
        }
    }

    /// Adds `sign` for each page to the full pages of regions and super blocks.
    #[inline(always)]
    fn count_run(self, first: u32, pages: u32, sign: u32) {
        let end = first + pages;
        let mut page = first;
        while page < end {
            let region_end = (page | (self.geometry.region_pages() - 1)) + 1;
            let stop = least(region_end, end);
            if self.count_full(page, sign.wrapping_mul(stop - page)) {
                self.reactivate(page);
            }
            page = stop;
        }
    }
}
