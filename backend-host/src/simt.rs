//! What lanes call: collective operations, scheduling points, accesses to memory.

use crate::collective::{Kind, Op, narrow, wide};
use crate::model::{Model, Race};
use crate::warp::{Explored, Warp};
use crate::workgroup::BlockOp;
use std::cell::RefCell;
use std::panic::Location;
use std::thread::panicking;
use warpheap_api::LaneMask;
use warpheap_rt::arch::simt::{Access, BlockEvent, Fence, LaneInfo, LaneSlot, Simt, Site};

// A lane that is being unwound may call these from a `Drop`. It gets the answers of a lane that is
// alone and is never suspended: the count of panics belongs to the OS thread, and other lanes on
// it would take themselves for unwinding.

impl Warp {
    /// One lane's part in a collective operation: its answer.
    #[inline(always)]
    fn collective(&self, lane: u32, op: Op) -> u64 {
        if panicking() {
            return op.alone(lane);
        }
        if let Some(wrong) = op.wrong(lane, self.present()) {
            self.fail(Some(lane), &wrong);
            self.cancel();
        }
        let Some(Explored {
            scheduler, seat, ..
        }) = &self.explored
        else {
            self.tick(lane);
            if op.mask == 1 << lane {
                return op.alone(lane);
            }
            self.enter(lane, op);
            if self.runnable() >> lane & 1 == 0 {
                self.suspend(lane);
            }
            return self.answer(lane);
        };
        if op.mask == 1 << lane {
            if !scheduler.stays(*seat, lane) {
                self.suspend(lane);
            }
            return op.alone(lane);
        }
        self.enter(lane, op);
        // Also if the operation is complete: any of its lanes may be the first to run on.
        self.suspend(lane);
        self.answer(lane)
    }

    // Inlined, so that the call is stored from registers: read back as a whole right after its
    // parts were written to the stack, it would have to wait for them.
    #[inline(always)]
    fn enter(&self, lane: u32, op: Op) {
        self.arrive(lane, op);
        if op.mask & self.ended() != 0 {
            self.diverged();
            self.cancel();
        }
    }

    /// One lane's part in a collective operation of its block: what a broadcast gives.
    fn of_block(&self, lane: u32, op: BlockOp, value: u32) -> u32 {
        if panicking() {
            return value;
        }
        if self.explored.is_none() {
            self.tick(lane);
        }
        let block = self.block_index();
        let last = self.arrive_block(lane, op, value).unwrap_or_else(|wrong| {
            self.fail_block(&wrong);
            self.cancel()
        });
        let comes = |model: &RefCell<Model>| {
            let mut model = model.borrow_mut();
            model.comes_to_block(self.who(lane), block, site(), last)
        };
        let orders = self.model().is_some_and(comes);
        // In explore mode also if the operation is complete: any lane may be the first to run on.
        if self.explored.is_some() || self.runnable() >> lane & 1 == 0 {
            self.suspend(lane);
        }
        if orders && let Some(model) = self.model() {
            model.borrow_mut().leaves_block(self.who(lane), block);
        }
        self.block().answer()
    }

    /// Stops the launch for something this lane did, and ends the lane.
    #[cold]
    pub(crate) fn stop(&self, lane: u32, what: &str) -> ! {
        self.fail(Some(lane), what);
        self.cancel()
    }

    /// Stops the launch for a race that this lane's access is part of.
    #[cold]
    fn race(&self, lane: u32, race: &Race) -> ! {
        let place = self.job.place_of(race.address);
        self.stop(lane, &race.message(&place))
    }

    /// Tells the model of memory that a block has become this lane's, or is no more.
    pub(crate) fn change_owner(
        &self,
        lane: u32,
        base: usize,
        offset: u64,
        bytes: u64,
        handed_out: bool,
    ) {
        let Some(model) = self.model().filter(|_| !panicking()) else {
            return;
        };
        // What lies outside is another check's.
        let room = self.job.room_from(base + offset as usize);
        let block = base + offset as usize..base + offset as usize + (bytes as usize).min(room);
        let who = self.who(lane);
        let changed = model
            .borrow_mut()
            .change_owner(who, block, handed_out, site());
        if let Err(race) = changed {
            self.race(lane, &race);
        }
    }

    /// The heap at this address, as messages name it.
    pub(crate) fn heap_name(&self, base: usize) -> String {
        let known = self.job.heaps().find(|heap| heap.base == base);
        match known {
            // No address: a replay is to say the same.
            Some(heap) => format!("the heap in argument {}", heap.argument + 1),
            None => format!("the words at {base:#x}"),
        }
    }
}

impl Simt for Warp {
    fn active(&self, info: &LaneInfo, site: Site) -> LaneMask {
        let lane = info.lane;
        if panicking() {
            return LaneMask::only(lane);
        }
        if self.explored.is_none() {
            self.tick(lane);
        }
        self.park_active(lane, site);
        if self.explored.is_none() && self.runnable() == 0 {
            self.release_first();
        }
        if self.runnable() >> lane & 1 == 0 {
            self.suspend(lane);
        }
        narrow(self.answer(lane))
    }

    fn match_any(&self, info: &LaneInfo, mask: LaneMask, value: u32) -> LaneMask {
        let op = Op {
            kind: Kind::MatchAny,
            mask: wide(mask),
            value,
            source: 0,
            orders: false,
        };
        narrow(self.collective(info.lane, op))
    }

    fn ballot(&self, info: &LaneInfo, mask: LaneMask, vote: bool) -> LaneMask {
        let op = Op {
            kind: Kind::Ballot,
            mask: wide(mask),
            value: vote as u32,
            source: 0,
            orders: false,
        };
        narrow(self.collective(info.lane, op))
    }

    fn shuffle(&self, info: &LaneInfo, mask: LaneMask, value: u32, source: u32) -> u32 {
        let op = Op {
            kind: Kind::Shuffle,
            mask: wide(mask),
            value,
            source,
            orders: false,
        };
        self.collective(info.lane, op) as u32
    }

    fn barrier(&self, info: &LaneInfo, mask: LaneMask) {
        let mask = wide(mask);
        let alone = mask == 1 << info.lane;
        let orders = |model: &RefCell<Model>| !alone && model.borrow_mut().orders(site());
        let op = Op {
            kind: Kind::Barrier,
            mask,
            value: 0,
            source: 0,
            orders: self.model().is_some_and(orders),
        };
        self.collective(info.lane, op);
    }

    fn block_barrier(&self, info: &LaneInfo) {
        self.of_block(info.lane, BlockOp::Barrier, 0);
    }

    fn block_broadcast(&self, info: &LaneInfo, value: u32, source: u32) -> u32 {
        self.of_block(info.lane, BlockOp::Broadcast { source }, value)
    }

    fn schedule(&self, info: &LaneInfo) {
        match &self.explored {
            None => {
                // Unwinding lanes must not be cancelled once more.
                if !panicking() {
                    self.tick(info.lane);
                }
            }
            Some(Explored {
                scheduler, seat, ..
            }) => {
                if !panicking() && !scheduler.stays(*seat, info.lane) {
                    self.suspend(info.lane);
                }
            }
        }
    }

    fn block_memory(&self, _info: &LaneInfo, parameter: u32, words: usize) -> *mut u32 {
        self.block()
            .shared()
            .array(parameter, words, &self.job.shared)
    }

    unsafe fn access(&self, info: &LaneInfo, word: *mut u32, access: Access, site: Site) -> u32 {
        let marks = self.job.unwritten_with(word.addr());
        let reads = !matches!(access, Access::Write(_) | Access::Store(_));
        if let Some(marks) = marks
            && !reads
        {
            // Before the write: who sees that sees this, too.
            marks.clear(word.addr()..word.addr() + 4);
        }
        let seen = match self.model().filter(|_| !panicking()) {
            // SAFETY: the caller's promise.
            None => unsafe { access.make(word) },
            Some(model) => {
                let mut model = model.borrow_mut();
                // SAFETY: the caller's promise; lanes take turns.
                let made = unsafe { model.access(self.who(info.lane), word, access, site) };
                drop(model);
                made.unwrap_or_else(|race| self.race(info.lane, &race))
            }
        };
        if let Some(marks) = marks
            && reads
            && marks.has(word.addr())
            && !panicking()
        {
            self.unwritten(info.lane, word.addr(), access, site);
        }
        seen
    }

    fn fence(&self, info: &LaneInfo, fence: Fence, site: Site) {
        if let Some(model) = self.model() {
            model.borrow_mut().fence(self.who(info.lane), fence, site);
        }
    }

    fn outside(&self, info: &LaneInfo, base: usize, word: usize, len: usize) -> ! {
        let heap = self.heap_name(base);
        self.stop(
            info.lane,
            &format!(
                "access outside the heap: word {word} of {heap}, which has {len} words; the handle is null, freed or of \
                 another heap, or an index is beyond its block"
            ),
        )
    }

    fn on_block(&self, info: &LaneInfo, base: usize, block: (u64, u64), event: BlockEvent) {
        self.tracks(info, base, block, event);
    }

    fn on_reset(&self, base: usize) {
        let had_some = self
            .job
            .blocks
            .as_ref()
            .is_some_and(|blocks| blocks.clear(base));
        // Each lane of the launch says so, and the first one is enough.
        if had_some && let Some(marks) = self.job.unwritten_of(base) {
            marks.clear_all();
        }
    }

    fn on_address(&self, base: usize, word: usize) {
        self.shows(base, word);
    }
}

/// Where the device function was called that is being carried out.
pub(crate) fn site() -> Site {
    LaneSlot::site().unwrap_or(Location::caller())
}
