//! The list of all blocks that an arena has from the backing allocator (§3.1): 126 entries, and the list
//! before it once that was full.

use super::FdgMalloc;
use super::header::{HEADER_WORDS, LIST};
use super::place::Room;
use crate::arch::Words;
use crate::sync::Team;
use warpheap_api::{AllocError, Arena, DeviceAlloc, HeapMemory, Layout, layout, least, select};

/// In place of a granule: there is none.
pub(super) const NONE: u32 = u32::MAX;
/// Entries of a list, as in the paper's §5.1.
pub(super) const ENTRIES: u32 = 126;
/// Word of the list before it.
const BEFORE: usize = 0;
/// Word of `SB Counter`: entries in use; more than there are if lanes found it full.
const COUNT: usize = 1;
/// First entry: granule and number of granules of a block.
const FIRST: usize = 4;
/// Words of a list.
pub(super) const LIST_WORDS: usize = FIRST + 2 * ENTRIES as usize;
/// Its granules.
const LIST_GRANULES: u32 = (LIST_WORDS / 4) as u32;

/// Groups of lanes that may fill lists at the same time, so that a lane finds its list replaced: one for
/// each lane of the widest warp.
const ATTEMPTS: u32 = 64;

/// The list behind the header.
#[inline(always)]
pub(super) const fn first_list(arena: Arena) -> u32 {
    arena.ptr().granule() + (HEADER_WORDS / 4) as u32
}

#[inline(always)]
const fn list_layout() -> Layout {
    block_layout(LIST_GRANULES)
}

/// The layout of a block of so many granules.
#[inline(always)]
pub(super) const fn block_layout(granules: u32) -> Layout {
    layout::array::<[u32; 4]>(granules)
}

impl<B: DeviceAlloc<Memory = Words>> FdgMalloc<B> {
    /// Makes an empty list.
    #[inline(always)]
    pub(super) fn make_list(self, list: u32, before: u32) {
        let words = self.words();
        words.store(list as usize * 4 + BEFORE, before);
        words.store(list as usize * 4 + COUNT, 0);
    }

    #[inline(always)]
    fn set_entry(self, list: u32, at: u32, block: u32, granules: u32) {
        let words = self.words();
        let entry = list as usize * 4 + FIRST + 2 * at as usize;
        words.store(entry, block);
        words.store(entry + 1, granules);
    }

    /// Makes `block` the only entry of the first list, which is empty and the current one.
    #[inline(always)]
    pub(super) fn keep_only(self, arena: Arena, block: u32, granules: u32) {
        let list = first_list(arena);
        self.set_entry(list, 0, block, granules);
        self.words().store(list as usize * 4 + COUNT, 1);
    }

    /// A block of so many granules from the backing allocator, on the arena's list; one lane for itself or for
    /// others. First the block, then, if the list is full, a new list for it.
    #[inline(always)]
    pub(super) fn take_registered(self, arena: Arena, granules: u32) -> Room {
        let words = self.words();
        let current = words.word_of(arena.ptr()) + LIST;
        let mut block = NONE;
        let mut code = 0;
        let mut done = false;
        let mut left = ATTEMPTS;
        while !done & (code == 0) {
            let first = block == NONE;
            let mut list = NONE;
            // One call of the backing allocator for both: its code is long.
            match self.take(block_layout(select(first, granules, LIST_GRANULES))) {
                Ok(ptr) => {
                    block = select(first, ptr.granule(), block);
                    list = select(first, NONE, ptr.granule());
                }
                Err(error) => code = error.code(),
            }
            if list != NONE {
                let old = words.load(current);
                self.make_list(list, old);
                self.set_entry(list, 0, block, granules);
                words.store(list as usize * 4 + COUNT, 1);
                words.release();
                done = words.compare_exchange(current, old, list) == old;
                if !done {
                    // Another group of the warp's lanes has made one.
                    self.put_back(list, list_layout());
                }
            }
            if !done & (code == 0) {
                let list = words.load(current);
                // Another group of the warp's lanes may have made it meanwhile.
                words.acquire();
                let at = words.fetch_add(list as usize * 4 + COUNT, 1);
                done = at < ENTRIES;
                if done {
                    self.set_entry(list, at, block, granules);
                }
                left -= 1;
                code = select(done | (left != 0), 0, AllocError::Contended.code());
            }
        }
        if !done & (block != NONE) {
            self.put_back(block, block_layout(granules));
        }
        Room { first: block, code }
    }

    /// Gives back all blocks on the lists but `kept`, the members of `team` side by side.
    #[inline(always)]
    pub(super) fn put_back_blocks(self, arena: Arena, team: Team, kept: u32) {
        let words = self.words();
        let mut list = words.load(words.word_of(arena.ptr()) + LIST);
        while list != NONE {
            let at = list as usize * 4;
            let count = least(words.load(at + COUNT), ENTRIES);
            let mut entry = team.rank();
            while entry < count {
                let place = at + FIRST + 2 * entry as usize;
                let block = words.load(place);
                let granules = words.load(place + 1);
                if block != kept {
                    self.put_back(block, block_layout(granules));
                }
                entry += team.count();
            }
            list = words.load(at + BEFORE);
        }
    }

    /// Gives back all lists but the first, which is empty then; one lane for all.
    #[inline(always)]
    pub(super) fn put_back_lists(self, arena: Arena) {
        let words = self.words();
        let first = first_list(arena);
        let mut list = words.load(words.word_of(arena.ptr()) + LIST);
        while list != first {
            let before = words.load(list as usize * 4 + BEFORE);
            self.put_back(list, list_layout());
            list = before;
        }
        words.store(first as usize * 4 + COUNT, 0);
        words.store(words.word_of(arena.ptr()) + LIST, first);
    }
}
