//! Realloc: blocks that stay where they are, and blocks that lanes copy together.

use super::{Ask, WarpHeap};
use crate::arch::{Group, Words, lane};
use warpheap_api::{
    AllocError, DeviceAlloc, DevicePtr, HeapMemory, LaneMask, Layout, layout, least, select,
};

/// Up to this many granules a lane copies by itself, in as many trips: it need not hear what others have to copy.
const ALONE: u32 = 4;
/// From this many granules on all lanes of a group copy one block after the other.
const BY_ALL: u32 = 256;
/// Lanes that copy a block of a size between, beside other teams: their words are a sector of memory.
const TEAM: u32 = 8;

/// A block that moves: its granules, where they are and where they go.
#[derive(Clone, Copy)]
struct Move {
    from: u32,
    to: u32,
    granules: u32,
}

impl WarpHeap {
    /// Collective: gives each lane's block its new size, in place or by moving it.
    ///
    /// # Errors
    /// As [`realloc`](DeviceAlloc::realloc).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn resize(
        self,
        group: Group,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let new = layout::aligned(new_size, old.align());
        let (was, is) = (Ask::new(old), Ask::new(new));
        let stays = self.stays(was, is);
        let mut result = Ok(ptr);
        let mut to = ptr;
        if !stays {
            result = self.malloc(new);
            if let Ok(moved) = result {
                to = moved;
            }
        }
        let kept = least(layout::granules(old), layout::granules(new));
        // SAFETY: the caller's promise.
        unsafe { self.carry(group, ptr, to, old, kept) };
        result
    }

    /// Collective: copies so many granules of each lane's block to another one that is the lane's, and frees the old one, of
    /// this layout. Whose block is the same has nothing to copy and helps.
    ///
    /// # Safety
    /// As [`free`](DeviceAlloc::free).
    #[inline(always)]
    pub(super) unsafe fn carry(
        self,
        group: Group,
        from: DevicePtr<u8>,
        to: DevicePtr<u8>,
        old: Layout,
        granules: u32,
    ) {
        let moves = to.granule() != from.granule();
        let block = Move {
            from: from.granule(),
            to: to.granule(),
            granules: select(moves, granules, 0),
        };
        copy(self.words, group, block);
        if moves {
            // SAFETY: the caller's promise; the block was copied and is used no more.
            unsafe { self.free(from, old) };
        }
    }

    /// Whether a block serves the new request where it is: both sizes are of one class, or take the same units.
    #[inline(always)]
    fn stays(self, old: Ask, new: Ask) -> bool {
        let ((old_slab, old_class), (new_slab, new_class)) =
            (self.class_of(old), self.class_of(new));
        let same_class = old_slab & new_slab & (old_class.index == new_class.index);
        let same_units = !old_slab & !new_slab & (self.units_of(old) == self.units_of(new));
        new.possible & (same_class | same_units)
    }
}

/// Collective: copies the blocks of all lanes.
///
/// A lane that copies a block by itself reads and writes words that are far from those of the others, each of which
/// then moves a sector of eight words. So a block's words are dealt out to lanes side by side.
#[inline(always)]
fn copy(words: Words, group: Group, block: Move) {
    let alone = block.granules <= ALONE;
    if alone {
        copy_share(words, block, 0, 1);
    }
    let by_all = group.ballot(block.granules >= BY_ALL);
    let in_teams = group.ballot(!alone & (block.granules < BY_ALL));
    if by_all.or(in_teams).is_empty() {
        return;
    }
    // What a lane wrote to its block is there for those that read it, and what they write for its owner.
    group.barrier();
    copy_by(words, group, block, by_all, group.count());
    copy_by(words, group, block, in_teams, least(TEAM, group.count()));
    group.barrier();
}

/// Collective: copies the blocks of the lanes `owners`, each by `size` lanes, as many at a time as there are lanes for.
#[inline(always)]
fn copy_by(words: Words, group: Group, block: Move, owners: LaneMask, size: u32) {
    let teams = group.count() / size;
    let team = group.rank() / size;
    let mut left = owners;
    while !left.is_empty() {
        let mut owner = lane();
        let mut has_one = false;
        let mut i = 0;
        while (i < teams) & !left.is_empty() {
            let next = left.last();
            left = left.without(LaneMask::only(next));
            owner = select(i == team, next, owner);
            has_one |= i == team;
            i += 1;
        }
        let theirs = Move {
            from: group.shuffle(block.from, owner),
            to: group.shuffle(block.to, owner),
            granules: group.shuffle(block.granules, owner),
        };
        if has_one {
            copy_share(words, theirs, group.rank() % size, size);
        }
    }
}

/// Copies every `step`-th word from `first` on, four at a time on the way.
#[inline(always)]
fn copy_share(words: Words, block: Move, first: u32, step: u32) {
    let (from, to) = (block.from as usize * 4, block.to as usize * 4);
    let (mut at, step) = (first as usize, step as usize);
    let end = block.granules as usize * 4;
    while at + 3 * step < end {
        let a = words.read(from + at);
        let b = words.read(from + at + step);
        let c = words.read(from + at + 2 * step);
        let d = words.read(from + at + 3 * step);
        words.write(to + at, a);
        words.write(to + at + step, b);
        words.write(to + at + 2 * step, c);
        words.write(to + at + 3 * step, d);
        at += 4 * step;
    }
    while at < end {
        words.write(to + at, words.read(from + at));
        at += step;
    }
}
