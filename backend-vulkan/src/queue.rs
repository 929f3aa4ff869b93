//! Queues launches so that the device does not wait for the host: two submissions in turn, one
//! recorded while the device works on the other.

use crate::flight::{Flight, LAUNCHES};
use crate::gpu::Gpu;
use crate::launch::Ready;
use crate::memory::Memory;
use std::sync::Arc;
use warpheap_api::host::{DeviceError, LaunchReport};

/// Two submissions in turn.
pub(crate) struct Queue {
    flights: [Flight; 2],
}

impl Queue {
    pub(crate) fn new(gpu: &Arc<Gpu>, memory: &mut Memory) -> Result<Self, DeviceError> {
        Ok(Queue {
            flights: [Flight::new(gpu, memory)?, Flight::new(gpu, memory)?],
        })
    }

    /// Runs `batch` in order, each launch after the one before has finished and with its writes
    /// visible, and returns a report for each.
    ///
    /// # Safety
    /// The launches' buffers are alive, and their arguments match their kernels' parameters.
    pub(crate) unsafe fn run(
        &mut self,
        batch: &[Ready<'_>],
    ) -> Result<Vec<LaunchReport>, DeviceError> {
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
        batch: &[Ready<'_>],
        reports: &mut Vec<LaunchReport>,
    ) -> Result<(), DeviceError> {
        let mut turn = 0;
        for part in batch.chunks(LAUNCHES) {
            let flight = &mut self.flights[turn];
            flight.collect(reports)?;
            // SAFETY: the caller's promise.
            unsafe { flight.submit(part)? };
            turn = 1 - turn;
        }
        // The older one first.
        self.flights[turn].collect(reports)?;
        self.flights[1 - turn].collect(reports)
    }

    /// After `error`, waits for what is still under way: callers may free the buffers next.
    fn settle(&mut self, error: DeviceError) -> DeviceError {
        for flight in &mut self.flights {
            // A lost device answers no more; its buffers are never freed.
            if matches!(error, DeviceError::Lost { .. }) {
                break;
            }
            if let Err(worse) = flight.discard() {
                return worse;
            }
        }
        error
    }

    /// Whether the device works on none of the launches, without waiting.
    pub(crate) fn ended(&mut self) -> bool {
        self.flights.iter_mut().all(Flight::ended)
    }
}

/// Names in a loss the launches that may have caused it.
fn blame(error: DeviceError, pending: &[Ready<'_>]) -> DeviceError {
    match (error, pending) {
        (DeviceError::Lost { device, what, .. }, [first, rest @ ..]) => DeviceError::Lost {
            device,
            during: match rest {
                [] => format!("the launch of {}", first.entry),
                [.., last] => format!(
                    "one of {} launches, {} to {}",
                    pending.len(),
                    first.entry,
                    last.entry
                ),
            },
            what,
        },
        (error, _) => error,
    }
}
