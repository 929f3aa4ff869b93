//! Compaction: blocks move out of chunks that are nearly empty, so that these serve any size again.
//!
//! Blocks that live long lie where there was room when they came. When most of those around them are gone, each keeps a
//! chunk of its class, and another class cannot use it. Nothing moves by itself: only who has a handle can change it. So a
//! compaction has three steps, each a launch:
//!
//! 1. [`mark`](WarpHeap::mark): of the chunks of a class that are less than so full, as many *stay* as the blocks in all of them
//!    need. The others are marked as *leaving* in their words: their tag becomes one that nobody asks for, so no lane
//!    finds room there. Those that stay come to the front of the row's directory.
//! 2. [`move_out`](WarpHeap::move_out), for each block: if its chunk is leaving it goes to one of those.
//! 3. [`unmark`](WarpHeap::unmark): takes the mark from all chunks. What is empty is idle then, as if all had been freed.
//!
//! A mark changes neither bits nor count, so a free does not see it, and whoever has added to the count of a chunk that
//! turns out to be leaving takes it back, as with every tag that is not the one expected.
//!
//! Which chunks stay: each nearly empty chunk of a row adds its blocks to a sum. One in which the sum passes a multiple of
//! what a chunk holds stays, and so does the first. So there are enough whatever the order, and each has the number of that
//! multiple: no lane waits for another.

use super::class::Class;
use super::state::{LEAVING, SLAB_CLASSES, count_of, tag_for, tag_of};
use super::{Ask, WarpHeap};
use crate::arch::Group;
use crate::bits::share;
use crate::sync::hash;
use crate::thread;
use warpheap_api::{DevicePtr, HeapMemory, Layout, layout, least, select};

/// Most that chunks which blocks leave may be full, in percent.
const MOST_PERCENT: u32 = 90;

/// Of a chunk that stays, one block in so many is left free: the last ones are hard to find.
const SPARE: u32 = 16;

/// Looks of a block at chunks that stay, before it stays where it is.
const TRIES: u32 = 8;

impl WarpHeap {
    /// Marks chunks of the caller's share that are less than `percent` full, and gives their number.
    #[inline(always)]
    pub(super) fn mark(self, percent: u32, index: u32, count: u32) -> u32 {
        let percent = least(percent, MOST_PERCENT);
        let mut marked = 0;
        let mut left = share(self.geometry.chunks, index, count);
        let mut chunk = index;
        while left > 0 {
            marked += self.mark_chunk(percent, chunk) as u32;
            chunk = chunk.wrapping_add(count);
            left -= 1;
        }
        marked
    }

    /// Marks a chunk if blocks are to leave it.
    #[inline(always)]
    fn mark_chunk(self, percent: u32, chunk: u32) -> bool {
        let (words, geometry) = (self.words, self.geometry);
        let state = words.load(geometry.state_word(chunk));
        let (tag, taken) = (tag_of(state), count_of(state));
        let slab = (tag >= tag_for(0)) & (tag <= tag_for(SLAB_CLASSES - 1));
        let row = select(slab, tag.wrapping_sub(tag_for(0)), 0);
        let class = Class::from_index(row, geometry.chunk_shift());
        let used = slab & (taken != 0);
        let sparse = used & (taken < class.blocks() * percent / 100);
        if used & !sparse {
            words.fetch_add(geometry.dense_word(row), 1);
        }
        let mut marked = false;
        if sparse {
            // More than is in a sparse chunk, so that the sum passes one multiple at most.
            let room = class.blocks() - class.blocks() / SPARE;
            let before = words.fetch_add(geometry.tally_word(row), taken);
            let after = before.wrapping_add(taken);
            if (before == 0) | (before / room != after / room) {
                let number = after / room;
                words.store(geometry.directory_word(row, number), chunk + 1);
                words.fetch_max(geometry.kept_word(row), number + 1);
            } else {
                let word = geometry.state_word(chunk);
                marked = words.compare_exchange(word, state, state | LEAVING) == state;
            }
        }
        marked
    }

    /// Collective: where the block of each lane is now, moved if its chunk is leaving and another one of those that stay has
    /// room.
    ///
    /// # Safety
    /// As [`free`](warpheap_api::DeviceAlloc::free).
    #[inline(always)]
    pub(super) unsafe fn move_out(
        self,
        group: Group,
        ptr: DevicePtr<u8>,
        layout: Layout,
    ) -> DevicePtr<u8> {
        let (words, geometry) = (self.words, self.geometry);
        let (slab, class) = self.class_of(Ask::new(layout));
        let mine = slab & !ptr.is_null();
        let granule = select(mine, ptr.granule(), geometry.data);
        let state = words.load(geometry.state_word(geometry.chunk_of(granule)));
        let leaves = mine & (state & LEAVING != 0);
        let mut to = ptr;
        if leaves {
            let found = self.look_kept(class);
            // What others wrote there before they freed it comes before what is written now.
            words.acquire();
            to = DevicePtr::from_granule(select(
                found == DevicePtr::<u8>::NULL_GRANULE,
                ptr.granule(),
                found,
            ));
        }
        if group.any(leaves) {
            // SAFETY: the caller's promise.
            unsafe { self.carry(group, ptr, to, layout, layout::granules(layout)) };
        }
        to
    }

    /// A block of a class in a chunk that stays: its granule, or the null handle's.
    #[inline(always)]
    fn look_kept(self, class: Class) -> u32 {
        let geometry = self.geometry;
        let kept = self.words.load(geometry.kept_word(class.index));
        let mut granule = DevicePtr::<u8>::NULL_GRANULE;
        let mut seed = hash(thread::index());
        let mut tries = select(kept == 0, TRIES, 0);
        while tries < TRIES {
            let place = seed % (kept | (kept == 0) as u32);
            let chunk = self.chunk_at(class.index, class.granules, place);
            seed = hash(seed);
            let found = self.reach_near(class, 1, chunk, seed);
            tries += 1;
            if found.mask != 0 {
                let block = found.mask.trailing_zeros();
                granule = self.block_zero(chunk, found.word, class) + block * class.granules;
                tries = TRIES;
            }
        }
        granule
    }

    /// Takes the marks from the chunks of the caller's share, and makes the rows as long as what stayed in them.
    #[inline(always)]
    pub(super) fn unmark(self, index: u32, count: u32) {
        let (words, geometry) = (self.words, self.geometry);
        let mut left = share(geometry.chunks, index, count);
        let mut chunk = index;
        while left > 0 {
            let word = geometry.state_word(chunk);
            if words.load(word) & LEAVING != 0 {
                words.fetch_and(word, !LEAVING);
            }
            chunk = chunk.wrapping_add(count);
            left -= 1;
        }
        let mut left = share(SLAB_CLASSES, index, count);
        let mut row = index;
        while left > 0 {
            let kept = words.load(geometry.kept_word(row));
            let stayed = kept + words.load(geometry.dense_word(row));
            let window = words.load(geometry.window_word(row));
            // Others are places of chunks that are empty now, which lanes would look at in vain.
            if (kept != 0) & (stayed < window) {
                words.store(geometry.window_word(row), stayed);
            }
            words.store(geometry.tally_word(row), 0);
            words.store(geometry.kept_word(row), 0);
            words.store(geometry.dense_word(row), 0);
            row = row.wrapping_add(count);
            left -= 1;
        }
    }
}
