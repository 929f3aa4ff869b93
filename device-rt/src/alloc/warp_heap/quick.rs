//! The way that most requests take: one addition and one `or`, on the way at the same time, and no loop.
//!
//! Warps are numbered through the launch. The blocks that a warp asks for lie, in the row of their
//! class, where its number says: warps side by side take words of bits side by side. So warps of a
//! launch do not meet, a fresh heap fills from one end without a gap, and a warp that asks again after
//! it freed finds its word as it left it. Nothing that all warps share is read or changed.

use super::class::Class;
use super::state::{FREE, pack, tag_for, tag_of};
use super::{Part, WarpHeap};
use crate::arch;
use crate::bits::low_mask;
use warpheap_api::{HeapMemory, least, select};

/// Where a team looks first.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Slot of the directory's row.
    pub slot: u32,
    /// Word of bits in the slot's chunk.
    pub word: u32,
    /// First bit in that word.
    pub bit: u32,
}

impl Place {
    /// The place for `count` blocks of a class, for the lanes of the warp that are number `part` of
    /// the parts that a warp falls into where a word has fewer bits than a warp lanes.
    #[inline(always)]
    pub fn new(class: Class, part: u32, count: u32) -> Self {
        // Counts are rounded up to powers of two: so no team crosses a cell.
        let width = arch::warp_width().trailing_zeros();
        let parts = width - least(width, class.cell_shift);
        let place = ((warp_index() << parts) + part) << log_up(count);
        let (cell, bit) = (
            place >> class.cell_shift,
            place & ((1 << class.cell_shift) - 1),
        );
        // Words that are full of blocks; what is left behind them waits for the search.
        let words = (class.blocks >> 5) + (class.blocks < 32) as u32;
        let mut slot = cell >> (words.trailing_zeros() & 31);
        let mut word = cell & (words - 1);
        if words & (words - 1) != 0 {
            slot = cell / words;
            word = cell % words;
        }
        Place { slot, word, bit }
    }
}

/// Number of the warp in the launch.
#[inline(always)]
pub(super) fn warp_index() -> u32 {
    let shift = arch::warp_width().trailing_zeros() & 31;
    let warps = (arch::block_dim() + arch::warp_width() - 1) >> shift;
    arch::block_index() * warps + (arch::thread_index() >> shift)
}

/// Two to this power are at least `count`.
#[inline(always)]
const fn log_up(count: u32) -> u32 {
    32 - (count - 1).leading_zeros()
}

/// Where the `count` places of this warp begin in a line of places of all warps.
#[inline(always)]
pub(super) fn line(count: u32) -> u32 {
    warp_index() << log_up(count)
}

impl WarpHeap {
    /// Claims `count` blocks at a place, or as many of them as are free there.
    #[inline(always)]
    pub(super) fn take_at(self, class: Class, place: Place, count: u32) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        let tag = tag_for(class.index);
        let slot_word = geometry.slot_word(class.index, place.slot);
        // May be out of date; the chunk's own word tells.
        let entry = words.glance(slot_word);
        let fresh = entry == 0;
        let home = geometry.home(class.index, place.slot);
        let chunk = select(fresh, home, entry.wrapping_sub(1));
        let state_word = geometry.state_word(chunk);
        let bits_word = geometry.bits_word(chunk) + place.word as usize;
        let wanted = low_mask(count) << place.bit;
        // The bits are claimed before it is known whether they are of this class. If they are not,
        // somebody else finds them taken for a moment. If they are, and the count says so as well,
        // the chunk stays what it is until the count is taken back.
        let got = wanted & !words.fetch_or(bits_word, wanted);
        let mut opened = false;
        let mut added = count;
        let mut state = pack(tag, 0);
        if fresh {
            state = words.compare_exchange(state_word, FREE, pack(tag, count));
            opened = state == FREE;
            added = select(opened, count, 0);
            if opened {
                words.store(slot_word, chunk + 1);
            }
        }
        // Of a chunk that another warp opened just now as well.
        if !opened & (tag_of(state) == tag) {
            state = words.fetch_add(state_word, count);
            added = count;
        }
        let held = opened | (tag_of(state) == tag);
        let kept = select(held, got, 0);
        if kept != wanted {
            // Either all that was claimed goes back, or the count of what was not.
            if got != kept {
                words.fetch_and(bits_word, !got);
            }
            if added != 0 {
                words.fetch_sub(state_word, added - kept.count_ones());
            }
        }
        let first = place.word * 32 * class.granules;
        Part {
            base: geometry.granule_of(chunk) + first,
            mask: kept,
            stride: class.granules,
            code: 0,
        }
    }
}
