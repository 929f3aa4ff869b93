//! The list of all blocks that an arena has from the backing allocator (§3.1): 126 entries, and the list
//! before it once that was full.

use super::FdgMalloc;
use super::header::{HEADER_WORDS, LIST};
use crate::arch::{self, Words};
use warpheap_api::{Arena, DeviceAlloc, HeapMemory, LaneMask, Layout, layout, least};

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

/// Groups of lanes that may fill lists at the same time, so that a lane finds its list replaced: one for
/// each lane of the widest warp.
const ATTEMPTS: u32 = 64;

#[inline(always)]
const fn list_layout() -> Layout {
    layout::bytes(LIST_WORDS * 4)
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

    /// Puts a block on the arena's list; false if a new list was needed and there was no memory for it.
    #[inline(always)]
    pub(super) fn register(self, arena: Arena, block: u32, granules: u32) -> bool {
        let words = self.words();
        let current = arena.ptr().word() + LIST;
        let mut done = false;
        let mut left = ATTEMPTS;
        while !done & (left > 0) {
            left -= 1;
            let list = words.load(current);
            let at = words.fetch_add(list as usize * 4 + COUNT, 1);
            if at < ENTRIES {
                self.set_entry(list, at, block, granules);
                done = true;
            } else {
                match self.take(list_layout()) {
                    Ok(ptr) => {
                        let new = ptr.granule();
                        self.make_list(new, list);
                        self.set_entry(new, 0, block, granules);
                        words.store(new as usize * 4 + COUNT, 1);
                        arch::release();
                        done = words.compare_exchange(current, list, new) == list;
                        if !done {
                            // Another group of the warp's lanes has made one.
                            self.put_back(new, list_layout());
                        }
                    }
                    Err(_) => left = 0,
                }
            }
        }
        done
    }

    /// Gives back all blocks on the lists but `kept`, the lanes of `team` side by side.
    #[inline(always)]
    pub(super) fn put_back_blocks(self, arena: Arena, team: LaneMask, kept: u32) {
        let words = self.words();
        let mut list = words.load(arena.ptr().word() + LIST);
        while list != NONE {
            let at = list as usize * 4;
            let count = least(words.load(at + COUNT), ENTRIES);
            let mut entry = team.rank(arch::lane());
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
        let first = arena.ptr().granule() + (HEADER_WORDS / 4) as u32;
        let mut list = words.load(arena.ptr().word() + LIST);
        while list != first {
            let before = words.load(list as usize * 4 + BEFORE);
            self.put_back(list, list_layout());
            list = before;
        }
        words.store(first as usize * 4 + COUNT, 0);
        words.store(arena.ptr().word() + LIST, first);
    }
}
