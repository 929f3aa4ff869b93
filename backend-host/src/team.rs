//! A warp with the fibers that its lanes run on.

use crate::fiber::{Fiber, Resume};
use crate::job::Job;
use crate::warp::{Explored, Warp};
use std::sync::Arc;
use warpheap_rt::arch::simt::{LaneSlot, set_current};

/// A warp and its fibers, one for each lane.
pub(crate) struct Team {
    // Dropped in this order: the fibers refer to the warp.
    fibers: Vec<Fiber>,
    pub(crate) warp: Box<Warp>,
}

impl Team {
    /// A team for the launch.
    ///
    /// # Errors
    /// The system's answer when there is no memory for a stack.
    pub(crate) fn new(job: &Arc<Job>, explored: Option<Explored>) -> std::io::Result<Self> {
        let warp = Warp::new(job, explored);
        let address: *const Warp = &*warp;
        // No block of the launch has more lanes than that.
        let count = job.width.min(job.block_dim);
        let fiber = |lane| {
            // SAFETY: the warp is boxed, so it stays where it is, and it is dropped after the
            // fibers.
            let main = move |suspender: &_| unsafe { &*address }.run_lane(lane, suspender);
            // SAFETY: as above; `run_lane` catches what unwinds.
            unsafe { Fiber::new(job.stack_bytes, lane, main) }
        };
        let fibers = (0..count).map(fiber).collect::<Result<_, _>>()?;
        Ok(Team { fibers, warp })
    }

    /// Runs `lane` until it waits or ends.
    #[inline]
    pub(crate) fn resume(&mut self, lane: u32) {
        self.run(lane, Resume::Go);
    }

    /// Unwinds every lane that has started and not ended.
    pub(crate) fn cancel(&mut self) {
        for lane in crate::collective::lanes(self.warp.suspended()) {
            self.run(lane, Resume::Cancel);
        }
    }

    #[inline]
    fn run(&mut self, lane: u32, order: Resume) {
        // SAFETY: the slot is the warp's, which stays while this team does; `Alone` takes it away
        // before.
        unsafe { set_current(self.warp.slot(lane)) };
        self.fibers[lane as usize].resume(order);
    }
}

/// Restores, when dropped, the lane that the thread ran as before.
pub(crate) struct Alone {
    slot: *const LaneSlot,
    models: bool,
}

impl Alone {
    /// From now on until the guard is dropped, this thread runs lanes, whose accesses the emulator makes if `models`
    /// says so.
    pub(crate) fn new(models: bool) -> Self {
        Alone {
            // SAFETY: null is always good.
            slot: unsafe { set_current(std::ptr::null()) },
            models: LaneSlot::model_memory(models),
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // SAFETY: what was current before is valid again after.
        unsafe { set_current(self.slot) };
        LaneSlot::model_memory(self.models);
    }
}
