//! How a mistake is told: a report of sixteen words, which the host makes sentences of.

use super::judge::Found;
use super::record::{self, Who};
use super::{Checked, Chooser};
use crate::arch::Words;
use core::alloc::Layout;
use warpheap_api::{DeviceAlloc, HeapMemory};

/// Nothing is wrong.
pub(crate) const RIGHT: u32 = 0;
/// The block was freed before.
pub(crate) const TWICE: u32 = 1;
/// The heap has no block there.
pub(crate) const FOREIGN: u32 = 2;
/// The block was freed, and the inner allocator has it back.
pub(crate) const STALE: u32 = 3;
/// The block has another layout.
pub(crate) const LAYOUT: u32 = 4;
/// Somebody wrote in front of the block.
pub(crate) const BEFORE: u32 = 5;
/// Somebody wrote behind the block.
pub(crate) const BEHIND: u32 = 6;
/// Somebody wrote to the block after it was freed.
pub(crate) const AFTER: u32 = 7;

/// Found by a free.
pub(crate) const FREE: u32 = 0;
/// Found by a realloc.
pub(crate) const REALLOC: u32 = 1;
/// Found when the block left the quarantine.
pub(crate) const LEAVE: u32 = 2;

/// Flag: the block is known.
pub(crate) const HAS_BLOCK: u32 = 1;
/// Flag: the line of its malloc, too.
pub(crate) const HAS_LINE: u32 = 2;
/// Flag: who freed it is known.
pub(crate) const HAS_FREE: u32 = 4;
/// Flag: who frees it at the same time stands behind the block when the launch has ended.
pub(crate) const PENDING: u32 = 8;
/// Flag: the block stays allocated.
pub(crate) const STAYS: u32 = 16;

/// Report: kind, call and flags, a byte each.
pub(crate) const WHAT: usize = 0;
/// Report: the granule.
pub(crate) const GRANULE: usize = 1;
/// Report: who found it, two words.
pub(crate) const WHO: usize = 2;
/// Report: the layout that was given, two words.
pub(crate) const GIVEN: usize = 4;
/// Report: the layout of the block, two words.
pub(crate) const BLOCK: usize = 6;
/// Report: who asked for the block, two words.
pub(crate) const MALLOC: usize = 8;
/// Report: who freed it, two words.
pub(crate) const FREED: usize = 10;
/// Report: the first wrong word, from the first one of the block.
pub(crate) const WRONG: usize = 12;
/// Report: what it holds.
pub(crate) const VALUE: usize = 13;
/// Report: the epoch of the heap.
pub(crate) const EPOCH: usize = 14;

/// A mistake that a lane found.
#[derive(Clone, Copy)]
pub(super) struct Mistake {
    pub(super) found: Found,
    pub(super) call: u32,
    pub(super) given: Layout,
    pub(super) who: Who,
}

impl<A: DeviceAlloc<Memory = Words>, C: Chooser> Checked<A, C> {
    /// Counts a mistake, and leaves a report if there is room.
    #[inline(always)]
    pub(super) fn tell(self, mistake: Mistake) {
        let region = self.region();
        let at = region.mistake();
        if at == 0 {
            return;
        }
        let Mistake { found, who, .. } = mistake;
        let words = region.words();
        let flag = |yes: bool, flag: u32| flag * yes as u32;
        let no_block = found.kind == FOREIGN;
        let was_freed = found.kind == TWICE || found.kind == AFTER;
        // What a record says whose seal is broken may be anything.
        let whole = found.front_whole || found.usable;
        let has_free = was_freed && found.back_whole && !found.pending;
        let stays = !found.usable && !was_freed && found.kind != STALE && !no_block;
        let lost = found.kind == AFTER && !found.front_whole;
        let flags = flag(whole && !no_block, HAS_BLOCK)
            | flag(found.back_whole && found.kind != STALE, HAS_LINE)
            | flag(has_free, HAS_FREE)
            | flag(was_freed && found.pending, PENDING)
            | flag(stays || lost, STAYS);
        let given = record::packed(mistake.given);
        let block = found.packed();
        words.store(at + WHAT, found.kind | mistake.call << 8 | flags << 16);
        words.store(at + GRANULE, found.granule);
        words.store(at + WHO, who.block);
        words.store(at + WHO + 1, who.at);
        words.store(at + GIVEN, given[0]);
        words.store(at + GIVEN + 1, given[1]);
        words.store(at + BLOCK, block[0]);
        words.store(at + BLOCK + 1, block[1]);
        words.store(at + MALLOC, found.front[2]);
        // The lane by the record, the line by what stands behind the block.
        let line = Who::line_of(found.back[1]) * flag(found.back_whole, 1);
        let lane = record::lane_of(found.front[0]);
        words.store(at + MALLOC + 1, Who::at(line, lane));
        words.store(at + FREED, found.back[2]);
        words.store(at + FREED + 1, found.back[3]);
        words.store(at + WRONG, found.wrong);
        words.store(at + VALUE, found.value);
        words.store(at + EPOCH, found.epoch);
    }
}
