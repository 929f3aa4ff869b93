//! Getting a hold on a chunk, and giving one another use.

use super::WarpHeap;
use super::class::Class;
use super::row::Row;
use super::state::{FREE, LOCKED, SLAB_CLASSES, count_of, is_idle, pack, tag_for, tag_of};
use crate::arch::Group;
use warpheap_api::{HeapMemory, select};

/// That a chunk is held; less than any state with a tag.
const HELD: u32 = 1;

impl WarpHeap {
    /// Collective: adds `count` to a chunk that has, or now gets, this tag. Whether it worked.
    /// A chunk that is free gets the tag at once, one that is idle after a look at its bits.
    #[inline(always)]
    pub(super) fn hold(self, group: Group, chunk: u32, tag: u32, count: u32) -> bool {
        let words = self.words;
        let at = self.geometry.state_word(chunk);
        let leads = group.leads();
        // Nothing, that it is held, or the state of an idle chunk that is now locked.
        let mut outcome = 0;
        if leads {
            let mut state = words.load(at);
            if state == FREE {
                state = words.compare_exchange(at, FREE, pack(tag, count));
                outcome = select(state == FREE, HELD, 0);
            }
            if tag_of(state) == tag {
                state = words.fetch_add(at, count);
                outcome = select(tag_of(state) == tag, HELD, 0);
                if outcome != HELD {
                    words.fetch_sub(at, count);
                }
            } else if is_idle(state) {
                let old = words.compare_exchange(at, state, pack(LOCKED, 0));
                outcome = select(old == state, state, 0);
            }
        }
        group.barrier();
        let outcome = group.broadcast(outcome);
        let mut held = outcome == HELD;
        if outcome > HELD {
            let state = outcome;
            // Locked by this warp: nobody adds to it now who does not take it back. Bits that are set
            // nevertheless are of a free whose other half is still on its way.
            held = self.is_empty(group, chunk, tag_of(state));
            // The last frees happen before what the new owners do.
            group.acquire();
            if leads {
                words.release();
                let next = select(held, pack(tag, count), state);
                words.fetch_add(at, next.wrapping_sub(pack(LOCKED, 0)));
            }
        }
        held
    }

    /// Collective: whether no bit of a chunk with this tag is set.
    #[inline(always)]
    fn is_empty(self, group: Group, chunk: u32, tag: u32) -> bool {
        let used = self.words_of(tag);
        let first = self.geometry.bits_word(chunk);
        let mut set = 0;
        let mut at = group.rank();
        while at < used {
            set |= self.words.load(first + at as usize);
            at += group.count();
        }
        group.all(set == 0)
    }

    /// Words of bits that chunks with this tag use.
    #[inline(always)]
    pub(super) fn words_of(self, tag: u32) -> u32 {
        let slab = tag <= tag_for(SLAB_CLASSES - 1);
        let index = select(slab, tag.wrapping_sub(1), 0);
        let class = Class::from_index(index, self.geometry.chunk_shift());
        select(slab, class.words(), 1)
    }

    /// The leader gives back what was held and not used.
    #[inline(always)]
    pub(super) fn let_go(self, group: Group, chunk: u32, count: u32) {
        if group.leads() & (count != 0) {
            self.words.fetch_sub(self.geometry.state_word(chunk), count);
        }
    }

    /// How a chunk in this state suits what somebody looks for.
    #[inline(always)]
    pub(super) fn suits(self, state: u32, row: Row) -> Suits {
        let own = tag_of(state) == row.tag;
        let idle = is_idle(state) & !own;
        Suits {
            has_room: own & (count_of(state) <= row.limit),
            free: state == FREE,
            idle,
            // More than a chunk holds, or a chunk that is looked at: somebody is about to let go.
            unsettled: (own & (count_of(state) > row.most))
                | (tag_of(state) == LOCKED)
                | ((tag_of(state) == FREE) & (state != FREE)),
        }
    }
}

/// What a look at a chunk's state says.
#[derive(Clone, Copy)]
pub(super) struct Suits {
    /// It has the tag, and room.
    pub has_room: bool,
    /// Nobody uses it.
    pub free: bool,
    /// It has another tag, but nothing of it is taken.
    pub idle: bool,
    /// It may have room in a moment.
    pub unsettled: bool,
}
