//! Requests (§3.3).

use super::FdgMalloc;
use super::header::SUPER;
use super::list::NONE;
use crate::alloc::fail;
use crate::arch::{self, Words};
use crate::sync::{Group, Team, last_lane};
use warpheap_api::{
    AllocError, Arena, DeviceAlloc, DevicePtr, HeapMemory, Layout, layout, least, select,
};

/// Granules of the largest request: what handles reach, less room to align within.
const MOST_GRANULES: u32 = u32::MAX - 0xffff;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;
/// Granules of the largest request that enters a sum over 64 lanes.
const MOST_SUMMED: u32 = u32::MAX / 64;

/// Memory that a group of lanes is placed in.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Granule of the first lane's place.
    pub(super) first: u32,
    /// An error's code, 0 if there is none.
    pub(super) code: u32,
}

impl<B: DeviceAlloc<Memory = Words>> FdgMalloc<B> {
    /// Makes a block that was taken the current super block, with `taken` granules allocated; where these
    /// begin.
    #[inline(always)]
    pub(super) fn make_current(self, arena: Arena, block: Room, taken: u32) -> Room {
        let words = self.words();
        let mut room = block;
        let mut current = NONE;
        if room.code == 0 {
            current = room.first;
            // `SB Allocated` takes the first granule.
            words.store(current as usize * 4, taken + 1);
            room.first += 1;
        }
        // Before lanes that come another way add to it. Without one the next request asks for one.
        words.release();
        words.store(words.word_of(arena.ptr()) + SUPER, current);
        room
    }

    /// Makes a super block an empty one.
    #[inline(always)]
    pub(super) fn empty_super(self, block: u32) {
        self.words().store(block as usize * 4, 1);
    }

    /// A block for each lane that is here.
    #[inline(always)]
    pub(super) fn place(self, arena: Arena, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let words = self.words();
        let lane = arch::lane();
        let group = Group::here();
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let admitted = self.admits(arena);
        let possible = admitted & (granules <= MOST_GRANULES) & (align <= MOST_ALIGN);
        // Room to align within.
        let asked = granules.wrapping_add(align - 1);
        let summed = possible & (asked <= MOST_SUMMED);
        let team = Team::by_key(group, select(summed, arena.ptr().granule(), NONE));
        let sum = team.sum(select(summed, asked, 0));

        // First phase: the current super block, if all would fit into an empty one.
        let capacity = self.super_granules().wrapping_sub(1);
        let small = summed & (capacity != NONE) & (sum.total <= capacity);
        let mut first = 0;
        // Granules behind the first lane's place.
        let mut fit = 0;
        if small & team.leads() {
            let current = words.load(words.word_of(arena.ptr()) + SUPER);
            if current != NONE {
                // Its first word is written before it becomes current.
                words.acquire();
                let old = words.fetch_add(current as usize * 4, sum.total);
                first = current.wrapping_add(old);
                fit = capacity + 1 - least(old, capacity + 1);
            }
        }
        group.barrier();
        let mut start = team.broadcast(first).wrapping_add(sum.before);
        let fit = team.broadcast(fit);
        let mut served = small & (sum.before + asked <= fit);
        let mut code = select(possible, 0, AllocError::Unsupported.code());

        // Second phase: those that found no place vote again, and get a new super block or, where they are too
        // many for one, a block for all. What does not fit together may fit one by one.
        let mut round = 0;
        let mut open = group.any(possible & !served);
        while open & (round < 2) {
            let together = round == 0;
            let waits = !served & possible & (summed | !together);
            let rest = team.ballot(waits & together);
            let worker = last_lane(rest, lane);
            // All before the first of them have a place in the super block.
            let skipped = group.shuffle(sum.before, least(rest.first(), lane));
            let joint = select(small, capacity + 1, sum.total);
            let mut room = Room { first: 0, code: 0 };
            if waits & (lane == worker) {
                room = self.take_registered(arena, select(together, joint, asked));
                if together & small {
                    room = self.make_current(arena, room, sum.total - skipped);
                }
            }
            group.barrier();
            let first = group.shuffle(room.first, worker);
            let failed = group.shuffle(room.code, worker);
            served |= waits & (failed == 0);
            let before = select(together, sum.before - skipped, 0);
            start = select(waits, first.wrapping_add(before), start);
            code = select(waits, failed, code);
            round += 1;
            open = group.any(possible & !served);
        }
        if !admitted {
            self.count_misuse();
        }
        if code == 0 {
            Ok(DevicePtr::from_granule(
                (start + (align - 1)) & !(align - 1),
            ))
        } else if possible {
            // The backing allocator has counted the failure.
            Err(AllocError::from_code(code))
        } else {
            fail(self.backing.header(), layout, AllocError::from_code(code))
        }
    }
}
