//! Queues launches so that the device does not wait for the host: two submissions in turn, one
//! recorded while the device works on the other.

use crate::flight::{Flight, LAUNCHES};
use crate::gpu::Gpu;
use crate::launch::{Ready, named};
use crate::memory::Memory;
use crate::slot::CommandSlot;
use std::sync::Arc;
use warpheap_api::host::{DeviceError, LaunchReport};

/// Two submissions in turn.
pub(crate) struct Queue {
    turns: [Turn; 2],
}

/// A submission.
struct Turn {
    slot: CommandSlot,
    flight: Flight,
}

impl Turn {
    fn new(gpu: &Arc<Gpu>, memory: &mut Memory) -> Result<Self, DeviceError> {
        Ok(Turn {
            slot: CommandSlot::new(gpu, &gpu.line, "warpheap launches")?,
            flight: Flight::new(gpu, memory, LAUNCHES, true)?,
        })
    }

    /// Records launches and hands them to the queue, behind so many submissions that are waited for first. What was submitted before
    /// was collected.
    ///
    /// # Safety
    /// As [`Flight::record`].
    unsafe fn submit(&mut self, batch: &[Ready], behind: u32) -> Result<(), DeviceError> {
        // Waits for what was submitted before.
        let commands = self.slot.begin()?;
        // SAFETY: the caller's promise.
        unsafe { self.flight.record(commands, batch)? };
        self.slot.submit_behind(behind)
    }

    /// Waits for the submission, if there is one, and adds a report for each of its launches.
    fn collect(&mut self, into: &mut Vec<LaunchReport>) -> Result<(), DeviceError> {
        self.slot.wait()?;
        self.flight.collect(into)
    }

    /// Waits for the submission and forgets what came of it.
    fn discard(&mut self) -> Result<(), DeviceError> {
        self.flight.forget();
        self.slot.wait()
    }
}

impl Queue {
    pub(crate) fn new(gpu: &Arc<Gpu>, memory: &mut Memory) -> Result<Self, DeviceError> {
        Ok(Queue {
            turns: [Turn::new(gpu, memory)?, Turn::new(gpu, memory)?],
        })
    }

    /// Runs `batch` in order, each launch after the one before has finished and with its writes
    /// visible, and returns a report for each.
    ///
    /// # Safety
    /// The launches' buffers are alive, and their arguments match their kernels' parameters.
    pub(crate) unsafe fn run(&mut self, batch: &[Ready]) -> Result<Vec<LaunchReport>, DeviceError> {
        let mut reports = Vec::with_capacity(batch.len());
        // SAFETY: the caller's promise; until `settle`, nothing is given back.
        let ran = unsafe { self.pump(batch, &mut reports) };
        let ran = ran.map_err(|error| self.settle(error));
        ran.map_err(|error| blame(error, &batch[reports.len().min(batch.len())..]))?;
        Ok(reports)
    }

    /// # Safety
    /// As [`run`](Self::run); submissions may be under way after an error.
    unsafe fn pump(
        &mut self,
        batch: &[Ready],
        reports: &mut Vec<LaunchReport>,
    ) -> Result<(), DeviceError> {
        let mut turn = 0;
        for part in batch.chunks(LAUNCHES) {
            let behind = u32::from(self.turns[1 - turn].slot.is_in_flight());
            let next = &mut self.turns[turn];
            next.collect(reports)?;
            // SAFETY: the caller's promise.
            unsafe { next.submit(part, behind)? };
            turn = 1 - turn;
        }
        // The older one first.
        self.turns[turn].collect(reports)?;
        self.turns[1 - turn].collect(reports)
    }

    /// After `error`, waits for what is still under way: callers may free the buffers next.
    fn settle(&mut self, error: DeviceError) -> DeviceError {
        for turn in &mut self.turns {
            // A lost device answers no more; its buffers are never freed.
            if matches!(error, DeviceError::Lost { .. }) {
                break;
            }
            if let Err(worse) = turn.discard() {
                return worse;
            }
        }
        error
    }

    /// Whether the device works on none of the launches, without waiting.
    pub(crate) fn ended(&mut self) -> bool {
        self.turns.iter_mut().all(|turn| turn.slot.ended())
    }
}

/// Names in a loss the launches that may have caused it.
fn blame(error: DeviceError, pending: &[Ready]) -> DeviceError {
    let entries: Vec<_> = pending.iter().map(|launch| launch.entry).collect();
    match (error, named(&entries)) {
        (DeviceError::Lost { device, what, .. }, Some(during)) => DeviceError::Lost {
            device,
            during,
            what,
        },
        (error, _) => error,
    }
}
