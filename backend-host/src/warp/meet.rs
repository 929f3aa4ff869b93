//! How lanes of a warp come together: at `active`, at a collective operation, at one of their block.

use super::{Wait, Warp};
use crate::collective::{Op, lanes};
use crate::workgroup::BlockOp;
use std::panic::Location;
use std::ptr;

/// After so many releases in a row that left lanes waiting elsewhere, those get a turn.
const PATIENCE: u32 = 256;

impl Warp {
    /// Makes `lane` wait at `active`.
    pub(crate) fn park_active(&self, lane: u32, site: &'static Location<'static>) {
        let bit = 1 << lane;
        self.lanes[lane as usize].wait.set(Wait::Active(site));
        self.at_active.set(self.at_active.get() | bit);
        self.runnable.set(self.runnable.get() & !bit);
    }

    /// Makes `lane` wait at a collective operation; if it is the last one of the set, all of them
    /// have their answers and can run.
    #[inline(always)]
    pub(crate) fn arrive(&self, lane: u32, op: Op) {
        let bit = 1 << lane;
        self.lanes[lane as usize].wait.set(Wait::Op(op));
        let waiting = self.at_op.get() | bit;
        self.at_op.set(waiting);
        self.runnable.set(self.runnable.get() & !bit);
        let call = |lane| match self.wait(lane) {
            Wait::Op(op) => op,
            _ => op,
        };
        if op.mask & !waiting == 0 && lanes(op.mask).all(|lane| call(lane).meets(&op)) {
            if op.orders
                && let Some(model) = self.model()
            {
                let members = lanes(op.mask).map(|lane| self.who(lane));
                model.borrow_mut().barrier(members);
            }
            op.answer(call, |lane, answer| {
                self.lanes[lane as usize].answer.set(answer);
            });
            self.at_op.set(waiting & !op.mask);
            self.wake(op.mask);
        }
    }

    /// Makes `lane` wait at a collective operation of the block; if it is the last one of the block,
    /// all of this warp can run, and `wake_block` wakes the other warps. Whether it is.
    ///
    /// # Errors
    /// What is wrong, if the operation can never complete.
    pub(crate) fn arrive_block(&self, lane: u32, op: BlockOp, value: u32) -> Result<bool, String> {
        let block = self.block.borrow();
        let rounds = block.rounds();
        let complete = block.arrive(self.thread(lane), op, value)?;
        let bit = 1 << lane;
        self.lanes[lane as usize].wait.set(Wait::Block(op));
        self.rounds.set(rounds);
        self.at_block.set(self.at_block.get() | bit);
        self.runnable.set(self.runnable.get() & !bit);
        if complete {
            self.wake_block();
        }
        Ok(complete)
    }

    /// Lets the lanes that wait for their block continue if the operation is complete; whether there
    /// were any.
    pub(crate) fn wake_block(&self) -> bool {
        let group = self.at_block.get();
        let woken = group != 0 && self.block.borrow().rounds() != self.rounds.get();
        if woken {
            self.at_block.set(0);
            self.wake(group);
            // It had no part in how long the others took.
            self.watched.set(None);
        }
        woken
    }

    fn wake(&self, group: u64) {
        for lane in lanes(group) {
            self.lanes[lane as usize].wait.set(Wait::Nothing);
        }
        self.runnable.set(self.runnable.get() | group);
    }

    /// The lanes that wait at the same call of `active` as `lane`.
    pub(crate) fn group_of(&self, lane: u32) -> u64 {
        let Wait::Active(site) = self.wait(lane) else {
            return 0;
        };
        let same =
            |other| matches!(self.wait(other), Wait::Active(at) if ptr::eq(at, site) || at == site);
        let group = lanes(self.at_active.get()).filter(|&other| same(other));
        group.fold(0, |set, other| set | 1 << other)
    }

    /// Lets lanes that wait at the same call of `active` continue, as one group.
    pub(crate) fn release(&self, group: u64) {
        for lane in lanes(group) {
            self.lanes[lane as usize].answer.set(group);
        }
        self.at_active.set(self.at_active.get() & !group);
        self.wake(group);
    }

    /// Releases the group at the call of `active` that comes first in the source, so that lanes
    /// which are behind catch up; now and then, if lanes keep waiting elsewhere, the last. Returns
    /// whether there was a group.
    pub(crate) fn release_first(&self) -> bool {
        let waiting = self.at_active.get();
        if waiting == 0 {
            return false;
        }
        let turn = self.releases.get() >= PATIENCE;
        let place = |lane| match self.wait(lane) {
            Wait::Active(site) => Some(site),
            _ => None,
        };
        let mut chosen = waiting.trailing_zeros();
        for lane in lanes(waiting) {
            let (Some(a), Some(b)) = (place(lane), place(chosen)) else {
                continue;
            };
            if !ptr::eq(a, b) && (a < b) != turn {
                chosen = lane;
            }
        }
        let group = self.group_of(chosen);
        self.release(group);
        let others = self.at_active.get() | self.at_op.get() | self.at_block.get();
        self.releases.set(if others == 0 || turn {
            0
        } else {
            self.releases.get() + 1
        });
        true
    }
}
