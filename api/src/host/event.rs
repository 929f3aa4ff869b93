//! Points in streams.

use super::queue::{Queue, streams};
use super::{Device, DeviceError, Mark};
use std::string::ToString;
use std::sync::Arc;
use std::time::Duration;

/// A point in a stream, from [`Stream::event`](super::Stream::event): it is there when all that was queued before has ended.
#[derive(Debug)]
pub struct Event {
    queue: Arc<Queue>,
    number: u64,
}

impl Event {
    pub(super) fn of(queue: &Arc<Queue>, number: u64) -> Self {
        Event {
            queue: queue.clone(),
            number,
        }
    }

    pub(super) fn device(&self) -> &Device {
        self.queue.device()
    }

    pub(super) fn mark(&self) -> Mark {
        self.queue.mark(self.number)
    }

    /// Waits on the host until it is there. Failures of launches are told by [`Stream::wait`](super::Stream::wait).
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    pub fn wait(&self) -> Result<(), DeviceError> {
        self.queue.wait(self.number)
    }

    /// Whether it is there, without waiting. It may be a little before this says so.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn is_there(&self) -> Result<bool, DeviceError> {
        let reached = streams(self.device())?.reached(self.mark().stream)?;
        Ok(reached >= self.number)
    }

    /// The time on the device from an earlier event to this one, of one stream or of two; waits for both. Nothing if the other one
    /// came later.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if the other event is another device's; [`DeviceError::Lost`], [`DeviceError::Driver`].
    pub fn since(&self, earlier: &Event) -> Result<Duration, DeviceError> {
        self.device().owns(
            earlier.device(),
            || "the earlier event".to_string(),
            "the clocks of two devices have nothing in common, measure on each by itself",
        )?;
        earlier.wait()?;
        self.wait()?;
        streams(self.device())?.elapsed(earlier.mark(), self.mark())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(streams) = streams(self.device()) {
            streams.forget(self.mark());
        }
    }
}
