//! A lane of the model.

use super::clock::{Clock, both};
use std::rc::Rc;

/// Views that a lane has read and not acquired are joined when there are more than this.
const MOST_PENDING: usize = 16;

/// One lane: a place in a seat, which one lane of the launch takes after the other.
#[derive(Debug, Default)]
pub(super) struct Lane {
    me: u32,
    /// What it knows of the others.
    clock: Rc<Clock>,
    /// What it does now is of this epoch.
    epoch: u32,
    /// Its first epoch: those before are of lanes that had the place before.
    birth: u32,
    /// Up to which of their epochs it knows.
    before: u32,
    /// What its last release covers: goes along with what it stores afterwards.
    released: Option<Rc<Clock>>,
    /// What came along with what it read; an acquire makes it known.
    pending: Vec<Rc<Clock>>,
    /// Since which epoch which lane of the launch has the place: its block, and its index there.
    names: Vec<(u32, u32, u32)>,
}

impl Lane {
    pub fn new(me: u32) -> Self {
        Lane {
            me,
            ..Lane::default()
        }
    }

    /// A lane of the launch begins here. It knows what was before the launch.
    pub fn begin(&mut self, block: u32, thread: u32) {
        self.epoch += 1;
        self.birth = self.epoch;
        self.before = 0;
        self.clock = Rc::default();
        self.released = None;
        self.pending.clear();
        self.names.push((self.epoch, block, thread));
    }

    pub fn me(&self) -> u32 {
        self.me
    }

    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Block and index in it of the lane that was here in that epoch.
    pub fn name(&self, epoch: u32) -> (u32, u32) {
        let after = self.names.partition_point(|name| name.0 <= epoch);
        let (_, block, thread) = self.names[after.saturating_sub(1)];
        (block, thread)
    }

    /// Whether it knows what lane `who` did in `epoch`.
    #[inline]
    pub fn knows(&self, who: u32, epoch: u32) -> bool {
        if who == self.me {
            epoch >= self.birth || epoch <= self.before
        } else {
            epoch <= self.clock.get(who)
        }
    }

    /// Whether it would if it acquired now.
    pub fn has_read_of(&self, who: u32, epoch: u32) -> bool {
        self.pending.iter().any(|view| view.get(who) >= epoch)
    }

    /// What goes along with what it stores.
    pub fn released(&self) -> Option<&Rc<Clock>> {
        self.released.as_ref()
    }

    /// It read something that this came along with.
    pub fn reads(&mut self, view: &Rc<Clock>) {
        if self
            .pending
            .last()
            .is_some_and(|last| Rc::ptr_eq(last, view))
        {
            return;
        }
        if self.pending.len() == MOST_PENDING {
            let all = self.pending.drain(..).reduce(|all, one| both(&all, &one));
            self.pending.extend(all);
        }
        self.pending.push(view.clone());
    }

    pub fn release(&mut self) {
        Rc::make_mut(&mut self.clock).set(self.me, self.epoch);
        self.released = Some(self.clock.clone());
        self.epoch += 1;
    }

    pub fn acquire(&mut self) {
        for view in std::mem::take(&mut self.pending) {
            self.learn(&view);
        }
    }

    /// What others may know of it at a barrier.
    pub fn gives(&mut self) -> &Rc<Clock> {
        Rc::make_mut(&mut self.clock).set(self.me, self.epoch);
        self.epoch += 1;
        &self.clock
    }

    /// It knows this, too.
    pub fn learn(&mut self, view: &Rc<Clock>) {
        let own = view.get(self.me);
        // A view has one epoch for a seat, its last. One of this lane's own says no more how much is known of
        // those that were here before: then all counts as known, since an order that there is must never be lost.
        let before = own.min(self.birth - 1);
        self.before = self.before.max(before);
        self.clock = both(&self.clock, view);
    }
}
