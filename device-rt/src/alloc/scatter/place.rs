//! Where a request begins to look, and where it looks next.

use super::geometry::{Geometry, groups, wrap};
use crate::sync::hash;
use warpheap_api::least;

/// Where to begin a search.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Page in its super block.
    pub(super) page: u32,
    /// Which super block.
    pub(super) block: u32,
}

/// The binary logarithm of the least power of two that is not below `chunk`.
#[inline(always)]
const fn size_shift(chunk: u32) -> u32 {
    32 - chunk.wrapping_sub(1).leading_zeros()
}

/// What [`Geometry::stretch`] returns at most.
const MOST_STRETCH: u32 = 3;
/// Pages behind the first that are looked at before those that lie anywhere.
const NEIGHBOURS: u32 = 3;

/// Where a lane is in its launch.
#[derive(Clone, Copy)]
pub(super) struct Launch {
    /// The lane's place in its block.
    pub(super) thread: u32,
    /// The block.
    pub(super) block: u32,
    /// Lanes of a block.
    pub(super) block_dim: u32,
    /// Blocks of the launch.
    pub(super) blocks: u32,
}

impl Geometry {
    /// The binary logarithm of the chunks of a page, if `chunk` granules were rounded up to a power of two.
    #[inline(always)]
    pub(super) fn spots_shift(self, chunk: u32) -> u32 {
        self.page_shift() - size_shift(chunk)
    }

    /// The page, counted from its block's first one, at which lane number `thread` of a block begins.
    #[inline(always)]
    pub(super) fn slot(self, chunk: u32, thread: u32) -> u32 {
        (thread << size_shift(chunk)) >> self.page_shift()
    }

    /// The power of two by which parts of warps may begin further apart than their block's requests fill
    /// pages: up to 8, where the pages of the heap are so many more than what the lanes of the launch could
    /// take, at a request of each power of two for each lane.
    #[inline(always)]
    pub(super) fn stretch(self, lanes: u32) -> u32 {
        let room = (self.homes << self.block_shift()).leading_zeros() + 1;
        let needed = (lanes << 1).leading_zeros();
        least(needed - least(needed, room), MOST_STRETCH)
    }

    /// Where lane number `thread` of a block begins to look for chunks of `chunk` granules.
    ///
    /// Eq. 3 (§5.3), with the block in place of the paper's multiprocessor: it runs on one, every
    /// target knows its index, and blocks that follow each other begin on pages that are still free
    /// instead of behind each other. Sizes between two powers of two share their places, since the chunks of
    /// one serve many of the others. The hash counts in as many pages as the requests of a block
    /// fill together (a power of two, to do without divisions), so that blocks that ask for the same
    /// size do not overlap; when all such places of a super block were given to blocks, the next
    /// ones begin in the next super block. So the launch has a row of super blocks for each power of
    /// two, and these lie one behind the other, so that sizes do not meet either.
    #[inline(always)]
    pub(super) fn place(self, chunk: u32, launch: Launch, stretch: u32) -> Place {
        let size = size_shift(chunk);
        let pages = groups(launch.block_dim << size, self.page_shift());
        let footprint = 32 - (pages - 1).leading_zeros() + stretch;
        let places = self.block_shift() - least(footprint, self.block_shift());
        let sum = (16u32 << size)
            .wrapping_mul(self.k_size)
            .wrapping_add(launch.block.wrapping_mul(self.k_mp));
        let before = (launch.blocks >> places) + size * ((launch.blocks >> self.block_shift()) + 1);
        let slot = (launch.thread << (size + stretch)) >> self.page_shift();
        Place {
            page: ((sum & ((1 << places) - 1)) << (self.block_shift() - places)) + slot,
            block: wrap(before + (launch.block >> places), self.homes),
        }
    }

    /// Another page to look at for who found the page `from` taken: the ones behind it first, then some
    /// anywhere.
    #[inline(always)]
    pub(super) fn other_page(self, from: u32, number: u32) -> u32 {
        let mut page = from + number;
        let mut limit = self.pages;
        if number > NEIGHBOURS {
            page = hash(from.wrapping_add(number << 26));
            limit = least(self.homes << self.block_shift(), self.pages);
        }
        wrap(page, limit)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::super::geometry::{
        PARAM_BLOCKS, PARAM_K_MP, PARAM_K_SIZE, PARAM_PAGES, PARAM_SHIFTS, pack_shifts,
    };
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Super blocks of 2048 pages of 256 granules.
    fn geometry(homes: u32) -> Geometry {
        let mut params = [0; warpheap_api::abi::HEAP_PARAMS];
        params[PARAM_PAGES] = homes << 11;
        params[PARAM_SHIFTS] = pack_shifts(8, 4, 11);
        params[PARAM_BLOCKS] = homes << 16;
        params[PARAM_K_SIZE] = 38183;
        params[PARAM_K_MP] = 17497;
        Geometry::new(params)
    }

    #[test]
    fn no_page_is_the_first_of_two_sizes_or_blocks_where_there_is_room() {
        let blocks = 300;
        for stretch in 0..=MOST_STRETCH {
            let geometry = geometry(((512 * blocks) >> 11 << stretch) + 60);
            let mut pages = BTreeSet::new();
            for chunk in (0..=8).map(|power| 1 << power) {
                for block in 0..blocks {
                    let pages_of_block: BTreeSet<_> = (0..256)
                        .map(|thread| {
                            let launch = Launch {
                                thread,
                                block,
                                block_dim: 256,
                                blocks,
                            };
                            let place = geometry.place(chunk, launch, stretch);
                            (place.block, place.page)
                        })
                        .collect();
                    for page in pages_of_block {
                        assert!(page.1 < 2048 && page.0 < geometry.homes);
                        assert!(pages.insert(page), "{page:?} of size {chunk} is another's");
                    }
                }
            }
        }
    }

    #[test]
    fn lanes_begin_apart_only_where_the_heap_has_room() {
        let geometry = geometry(768);
        let stretches: Vec<_> = (0..=20).map(|power| geometry.stretch(1 << power)).collect();
        assert_eq!(stretches[0], MOST_STRETCH);
        assert_eq!(stretches[20], 0);
        assert!(
            stretches.is_sorted_by(|few, more| few >= more),
            "{stretches:?}"
        );
    }
}
