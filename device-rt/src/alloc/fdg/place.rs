//! Requests (§3.3).

use super::FdgMalloc;
use super::header::SUPER;
use super::list::{NONE, block_layout};
use crate::alloc::fail;
use crate::arch::{self, Words};
use crate::sync::{PrefixSum, last_lane, team_sum};
use warpheap_api::{
    AllocError, Arena, DeviceAlloc, DevicePtr, HeapMemory, LaneMask, Layout, layout, least, select,
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
    first: u32,
    /// An error's code, 0 if there is none.
    pub(super) code: u32,
}

impl<B: DeviceAlloc<Memory = Words>> FdgMalloc<B> {
    /// A block of so many granules that the arena knows of.
    #[inline(always)]
    fn take_registered(self, arena: Arena, granules: u32) -> Room {
        let mut room = Room { first: 0, code: 0 };
        match self.take(block_layout(granules)) {
            Ok(ptr) => {
                room.first = ptr.granule();
                if !self.register(arena, room.first, granules) {
                    self.put_back(room.first, block_layout(granules));
                    room.code = AllocError::Exhausted.code();
                }
            }
            Err(error) => room.code = error.code(),
        }
        room
    }

    /// Makes a new super block the current one, with `taken` granules allocated; one lane for all.
    #[inline(always)]
    pub(super) fn renew(self, arena: Arena, taken: u32) -> Room {
        let words = self.words();
        let mut room = self.take_registered(arena, self.super_granules());
        let mut current = NONE;
        if room.code == 0 {
            current = room.first;
            // `SB Allocated` takes the first granule.
            words.store(current as usize * 4, taken + 1);
            room.first += 1;
        }
        // Before lanes that come another way add to it. Without one the next request asks for one.
        arch::release();
        words.store(arena.ptr().word() + SUPER, current);
        room
    }

    /// Makes a super block an empty one.
    #[inline(always)]
    pub(super) fn empty_super(self, block: u32) {
        self.words().store(block as usize * 4, 1);
    }

    /// A block for each active lane.
    #[inline(always)]
    pub(super) fn place(self, arena: Arena, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let words = self.words();
        let lane = arch::lane();
        let lanes = arch::active();
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let admitted = self.admits(arena);
        let possible = admitted & (granules <= MOST_GRANULES) & (align <= MOST_ALIGN);
        // Room to align within.
        let asked = granules.wrapping_add(align - 1);
        let summed = possible & (asked <= MOST_SUMMED);
        let team = arch::match_any(lanes, select(summed, arena.ptr().granule(), NONE));
        let sum = team_sum(lanes, team, select(summed, asked, 0));

        // First phase: the current super block, or a block for all that do not fit into an empty one.
        let capacity = self.super_granules().wrapping_sub(1);
        let small = summed & (capacity != NONE) & (sum.total <= capacity);
        let worker = team.last();
        let mut room = Room { first: 0, code: 0 };
        // Granules behind the first lane's place.
        let mut fit = 0;
        if summed & (lane == worker) {
            if small {
                let current = words.load(arena.ptr().word() + SUPER);
                if current != NONE {
                    let old = words.fetch_add(current as usize * 4, sum.total);
                    room.first = current.wrapping_add(old);
                    fit = capacity + 1 - least(old, capacity + 1);
                }
            } else {
                room = self.take_registered(arena, sum.total);
                fit = select(room.code == 0, sum.total, 0);
            }
        }
        arch::warp_barrier(lanes);
        let first = arch::shuffle(lanes, room.first, worker);
        let fit = arch::shuffle(lanes, fit, worker);
        let mut start = first.wrapping_add(sum.before);
        let mut served = summed & (sum.before + asked <= fit);

        // Second phase: those that found no place in the super block vote again and get a new one.
        let rest = arch::ballot(lanes, small & !served).and(team);
        if !arch::ballot(lanes, small & !served).is_empty() {
            let waits = small & !served;
            let again = self.second_phase(lanes, rest, arena, sum, waits);
            if waits & (again.code == 0) {
                start = again.first.wrapping_add(sum.before);
                served = true;
            }
        }
        // What did not fit together may fit one by one.
        let mut code = select(admitted, 0, AllocError::Unsupported.code());
        code = select(admitted & !possible, AllocError::Unsupported.code(), code);
        if possible & !served {
            let alone = self.take_registered(arena, asked);
            start = alone.first;
            code = alone.code;
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
            fail(self.backing.header(), AllocError::from_code(code))
        }
    }

    /// A new super block for the lanes of `rest`, which wait for one; the result's `first` is where a lane
    /// with nothing before it would begin.
    #[inline(always)]
    fn second_phase(
        self,
        lanes: LaneMask,
        rest: LaneMask,
        arena: Arena,
        sum: PrefixSum,
        waits: bool,
    ) -> Room {
        let lane = arch::lane();
        // They are the team's last lanes: all before the first of them have a place.
        let first = select(rest.is_empty(), lane, rest.first());
        let skipped = arch::shuffle(lanes, sum.before, first);
        let worker = last_lane(rest, lane);
        let mut room = Room { first: 0, code: 0 };
        if waits & (lane == worker) {
            room = self.renew(arena, sum.total - skipped);
            room.first = room.first.wrapping_sub(skipped);
        }
        arch::warp_barrier(lanes);
        Room {
            first: arch::shuffle(lanes, room.first, worker),
            code: arch::shuffle(lanes, room.code, worker),
        }
    }
}
