//! Times of the host that have nothing of loading kernels.

use std::time::{Duration, Instant};
use warpheap::Device;

/// A clock that stands still while a device loads kernels, which it may do when one is first launched.
pub struct Clock<'a> {
    device: &'a Device,
    started: Instant,
    /// How long the device had loaded kernels by then.
    loaded: Duration,
}

impl<'a> Clock<'a> {
    /// Begins now.
    pub fn start(device: &'a Device) -> Self {
        Clock {
            device,
            loaded: device.load_time(),
            started: Instant::now(),
        }
    }

    /// How long it has run.
    pub fn elapsed(&self) -> Duration {
        let all = self.started.elapsed();
        all.saturating_sub(self.device.load_time().saturating_sub(self.loaded))
    }
}
