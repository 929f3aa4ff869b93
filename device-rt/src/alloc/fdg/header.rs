//! The warp header (§3.1, §3.2), and who has part in it.
//!
//! Its first eight words lie in one sector of the cache: a request reads them at once.

use super::FdgMalloc;
use super::list::{LIST_WORDS, NONE, first_list};
use crate::alloc::fail;
use crate::arch::{self, Words};
use crate::sync::{Group, Team};
use crate::thread;
use warpheap_api::{
    AllocError, Arena, DeviceAlloc, DevicePtr, HeapMemory, LaneMask, Layout, header, layout, select,
};

/// What it is: [`OPEN`], [`HANDED`], or the rest of an arena that ended.
pub(super) const MARK: usize = 0;
/// `TotalCount`: lanes that have part in the arena.
pub(super) const TOTAL: usize = 1;
/// `ActiveCount`: those of them that have not left it.
pub(super) const ACTIVE: usize = 2;
/// Granule of the current super block, whose first word is `SB Allocated`, in granules.
pub(super) const SUPER: usize = 3;
/// Granule of the current list.
pub(super) const LIST: usize = 4;
/// The warp, numbered through the launch.
const WARP: usize = 5;
/// The lanes that have part in it: two words.
const LANES: usize = 6;
/// Those of them that have called the clean-up that is under way: two words.
pub(super) const GONE: usize = 8;
/// Words of the header; the first list lies behind them.
pub(super) const HEADER_WORDS: usize = 16;

/// The mark of an arena in use.
pub(super) const OPEN: u32 = 0x4644_4701;
/// The mark of one that was handed over.
pub(super) const HANDED: u32 = 0x4644_4702;

/// In the settings: open arenas are counted. The other bits are granules of a super block.
pub(crate) const COUNTS_OPEN: u32 = 1 << 31;

/// The settings as one word.
pub(crate) const fn pack_settings(super_granules: u32, counts_open: bool) -> u32 {
    super_granules | if counts_open { COUNTS_OPEN } else { 0 }
}

/// The header and the first list.
#[inline(always)]
pub(super) const fn header_layout() -> Layout {
    layout::bytes((HEADER_WORDS + LIST_WORDS) * 4)
}

/// Number of the calling warp in the launch.
#[inline(always)]
fn warp() -> u32 {
    // The last warp of a block need not be full.
    let width = arch::warp_width();
    let each = (thread::block_dim() - 1) / width + 1;
    thread::block_index() * each + thread::index_in_block() / width
}

impl<B: DeviceAlloc<Memory = Words>> FdgMalloc<B> {
    #[inline(always)]
    pub(super) fn words(self) -> Words {
        self.backing.memory()
    }

    /// Granules of a super block, 0 if there are to be none.
    #[inline(always)]
    pub(super) fn super_granules(self) -> u32 {
        self.backing.header().glance(header::WORD_ARENA_SETTINGS) & !COUNTS_OPEN
    }

    /// A block of so many granules from the backing allocator, of which an emulator hears.
    #[inline(always)]
    pub(super) fn take(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let result = self.backing.malloc(layout);
        if let Ok(ptr) = result {
            self.words().note_malloc(ptr, layout);
        }
        result
    }

    /// Gives it back.
    #[inline(always)]
    pub(super) fn put_back(self, granule: u32, layout: Layout) {
        let ptr = DevicePtr::from_granule(granule);
        self.words().note_free(ptr, layout);
        // SAFETY: the block came from `take` with this layout; the list has it no more.
        unsafe { self.backing.free(ptr, layout) }
    }

    /// Counts open arenas, where that is wanted.
    #[inline(always)]
    pub(super) fn count_open(self, change: u32) {
        let words = self.backing.header();
        if words.glance(header::WORD_ARENA_SETTINGS) & COUNTS_OPEN != 0 {
            words.fetch_add(header::WORD_ARENAS_OPEN, change);
        }
    }

    /// Counts a call that was misuse.
    #[inline(always)]
    pub(super) fn count_misuse(self) {
        self.backing
            .header()
            .fetch_add(header::WORD_ARENA_MISUSES, 1);
    }

    /// Whether the handle may be one of this heap: its header's words can be read.
    #[inline(always)]
    pub(super) fn names_words(self, granule: u32) -> bool {
        let least = (header::HEADER_WORDS / 4) as u32;
        let behind = (self.words().len() / 4) as u32;
        (granule >= least) & (granule < behind - (HEADER_WORDS / 4) as u32)
    }

    /// Whether the calling lane has part in this arena and has not left it.
    #[inline(always)]
    pub(super) fn admits(self, arena: Arena) -> bool {
        let words = self.words();
        let mut admits = self.names_words(arena.ptr().granule());
        if admits {
            let at = words.word_of(arena.ptr());
            let part = LaneMask {
                lo: words.load(at + LANES),
                hi: words.load(at + LANES + 1),
            };
            let gone = LaneMask {
                lo: words.load(at + GONE),
                hi: words.load(at + GONE + 1),
            };
            admits = (words.load(at + MARK) == OPEN)
                & (words.load(at + WARP) == warp())
                & part.without(gone).contains(arch::lane());
        }
        admits
    }

    /// The lanes that have part in this arena; none if the calling lane has not, or has left it.
    #[inline(always)]
    pub(super) fn members(self, arena: Arena) -> LaneMask {
        let words = self.words();
        let mut members = LaneMask::EMPTY;
        if self.admits(arena) {
            let at = words.word_of(arena.ptr()) + LANES;
            members = LaneMask {
                lo: words.load(at),
                hi: words.load(at + 1),
            };
        }
        members
    }

    /// Writes who has part in the arena.
    #[inline(always)]
    fn enroll(self, at: usize, lanes: LaneMask) {
        let words = self.words();
        words.store(at + TOTAL, lanes.count());
        words.store(at + ACTIVE, lanes.count());
        words.store(at + WARP, warp());
        words.store(at + LANES, lanes.lo);
        words.store(at + LANES + 1, lanes.hi);
        words.store(at + GONE, 0);
        words.store(at + GONE + 1, 0);
    }

    /// Opens an arena for the lanes that are here (§3.2): the worker makes header, list and super block.
    #[inline(always)]
    pub(super) fn open(self) -> Result<Arena, AllocError> {
        let words = self.words();
        let group = Group::here();
        let mut granule = NONE;
        let mut code = 0;
        if group.leads() {
            match self.take(header_layout()) {
                Ok(ptr) => {
                    granule = ptr.granule();
                    let at = words.word_of(ptr);
                    self.enroll(at, group.lanes());
                    let arena = Arena::from_ptr(ptr);
                    self.make_list(first_list(arena), NONE);
                    words.store(at + LIST, first_list(arena));
                    words.store(at + SUPER, NONE);
                    if self.super_granules() != 0 {
                        let room = self.take_registered(arena, self.super_granules());
                        code = self.make_current(arena, room, 0).code;
                    }
                    words.store(at + MARK, select(code == 0, OPEN, 0));
                    if code == 0 {
                        self.count_open(1);
                    } else {
                        self.put_back(granule, header_layout());
                    }
                }
                Err(error) => code = error.code(),
            }
        }
        group.barrier();
        let code = group.broadcast(code);
        let granule = group.broadcast(granule);
        if code == 0 {
            Ok(Arena::from_ptr(DevicePtr::from_granule(granule)))
        } else if group.leads() {
            // The backing allocator has counted the failure.
            Err(AllocError::from_code(code))
        } else {
            // Nor has this lane asked for anything.
            fail(
                self.backing.header(),
                layout::bytes(0),
                AllocError::from_code(code),
            )
        }
    }

    /// Takes an arena over that was handed over.
    #[inline(always)]
    pub(super) fn resume(self, handle: DevicePtr<u8>) -> Result<Arena, AllocError> {
        let words = self.words();
        let granule = handle.granule();
        let team = Team::by_key(Group::here(), granule);
        let mut got = 0;
        if team.leads() & self.names_words(granule) {
            let at = granule as usize * 4;
            // A mark of its own until all is written.
            if words.compare_exchange(at + MARK, HANDED, 0) == HANDED {
                self.enroll(at, team.members());
                words.store(at + MARK, OPEN);
                got = 1;
            }
        }
        team.group().barrier();
        if team.broadcast(got) != 0 {
            Ok(Arena::from_ptr(DevicePtr::from_granule(granule)))
        } else {
            self.count_misuse();
            fail(
                self.backing.header(),
                layout::bytes(0),
                AllocError::Unsupported,
            )
        }
    }
}
