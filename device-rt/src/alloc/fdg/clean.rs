//! The clean-ups (§3.4): all of them wait, without waiting, for the last lane.

use super::FdgMalloc;
use super::header::{ACTIVE, GONE, HANDED, MARK, SUPER, TOTAL, header_layout};
use super::list::NONE;
use crate::arch::Words;
use crate::sync::{Group, Team};
use warpheap_api::{Arena, DeviceAlloc, HeapMemory, select};

/// The first strategy: the memory goes, the arena stays.
pub(super) const TIDY: u32 = 0;
/// The second: both go.
pub(super) const END: u32 = 1;
/// The third: both stay, for another kernel.
pub(super) const HAND_OVER: u32 = 2;

/// What came of a call for a lane.
#[derive(Clone, Copy)]
pub(super) struct Left {
    /// The lane had part in the arena.
    pub(super) admitted: bool,
    /// It was among the last.
    pub(super) last: bool,
}

impl<B: DeviceAlloc<Memory = Words>> FdgMalloc<B> {
    /// The lanes that are here leave their arenas; who reduces `ActiveCount` to zero carries the strategy out.
    #[inline(always)]
    pub(super) fn leave(self, arena: Arena, strategy: u32) -> Left {
        let words = self.words();
        let group = Group::here();
        let admitted = self.admits(arena);
        let team = Team::by_key(group, select(admitted, arena.ptr().granule(), NONE));
        let mut last = 0;
        // What the team's lanes wrote comes before its worker's release; so does the set of lanes that are gone,
        // which the worker writes in between.
        group.barrier();
        if admitted & team.leads() {
            let at = words.word_of(arena.ptr());
            let members = team.members();
            words.fetch_or(at + GONE, members.lo);
            if members.hi != 0 {
                words.fetch_or(at + GONE + 1, members.hi);
            }
            // The last lane frees the word that it counts in.
            last = (words.release_sub(at + ACTIVE, team.count()) == team.count()) as u32;
            words.acquire();
        }
        group.barrier();
        let last = admitted & (team.broadcast(last) != 0);
        if last & (strategy != HAND_OVER) {
            let kept = words.load(words.word_of(arena.ptr()) + SUPER);
            let kept = select(strategy == TIDY, kept, NONE);
            self.put_back_blocks(arena, team, kept);
        }
        // The others have read the lists.
        group.barrier();
        if last & team.leads() {
            self.finish(arena, strategy);
        }
        group.barrier();
        if !admitted {
            self.count_misuse();
        }
        Left { admitted, last }
    }

    /// What one lane does when the blocks are gone.
    #[inline(always)]
    fn finish(self, arena: Arena, strategy: u32) {
        let words = self.words();
        let at = words.word_of(arena.ptr());
        if strategy != HAND_OVER {
            self.put_back_lists(arena);
        }
        if strategy == END {
            words.store(at + MARK, 0);
            self.put_back(arena.ptr().granule(), header_layout());
            self.count_open(1u32.wrapping_neg());
        } else {
            if strategy == TIDY {
                let current = words.load(at + SUPER);
                if current != NONE {
                    self.empty_super(current);
                    self.keep_only(arena, current, self.super_granules());
                }
                words.store(at + ACTIVE, words.load(at + TOTAL));
            }
            words.store(at + GONE, 0);
            words.store(at + GONE + 1, 0);
            words.store(
                at + MARK,
                select(strategy == TIDY, super::header::OPEN, HANDED),
            );
        }
    }
}
