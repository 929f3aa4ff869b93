//! What `warpheap_api::host::Streams` asks of a device.
//!
//! The lock of the backend is held while work is submitted and while the device is asked how far it is, and not while anything is
//! waited for. So calls of other threads go on.

use crate::backend::VulkanBackend;
use crate::order::Order;
use crate::streams::Queued;
use std::time::{Duration, Instant};
use warpheap_api::host::{DeviceError, Mark, StreamId, Streams, Work};

impl Streams for VulkanBackend {
    fn open(&self) -> Result<StreamId, DeviceError> {
        self.call(|state| state.streams.open(&mut state.memory))
    }

    fn close(&self, stream: StreamId) {
        // After a loss the device may still be working on it: it stays until the device is closed.
        let closed = self.call(|state| state.streams.close(&mut state.memory, stream));
        if let Err(error) = closed {
            tracing::debug!(%error, "a stream was not given back");
        }
    }

    unsafe fn queue(
        &self,
        stream: StreamId,
        after: &[Mark],
        work: Work<'_>,
    ) -> Result<u64, DeviceError> {
        if let Work::Launches(launches) = work {
            self.check(launches)?;
        }
        let mut order = self.call_compiled(|state| state.look_up(work))?;
        if let (Work::Write { data, .. }, Some(staged)) = (work, &mut order.staged) {
            staged.put(data);
        }
        // SAFETY: the caller's promise; the buffers were found in the table, and their ranges checked.
        let queued = unsafe { self.queue_order(stream, after, &mut order) };
        if let Some(staged) = order.staged {
            // It was not queued. After a loss nobody needs the room.
            let _ = self.call(|state| {
                state.streams.unstage(&mut state.memory, staged);
                Ok(())
            });
        }
        queued
    }

    fn reached(&self, stream: StreamId) -> Result<u64, DeviceError> {
        self.call(|state| state.streams.reached(&mut state.memory, stream))
    }

    fn wait(&self, mark: Mark) -> Result<(), DeviceError> {
        // How far everything was when it last went on, and since when.
        let mut last: Option<(Vec<u64>, Instant)> = None;
        loop {
            let look = self.call(|state| state.streams.look(&mut state.memory, mark))?;
            let Some(pending) = look else { return Ok(()) };
            let since = match last.take() {
                Some((standing, since)) if standing == pending.standing => Some(since),
                _ => None,
            };
            let waited = since.map_or(Duration::ZERO, |since| since.elapsed());
            let left = pending.patience.saturating_sub(waited);
            if left.is_zero() && since.is_some() {
                return self.call(|state| Err(state.streams.given_up(mark, waited)));
            }
            let since = since.unwrap_or_else(Instant::now);
            match pending.timeline.wait(pending.at, left) {
                Ok(true) => return Ok(()),
                Ok(false) => last = Some((pending.standing, since)),
                Err(error) => return self.call(|_| Err(error)),
            }
        }
    }

    fn failure(&self, stream: StreamId) -> Option<DeviceError> {
        let failure = self.call(|state| state.streams.failure(&mut state.memory, stream));
        match failure {
            Ok(failure) => failure.map(|failure| Box::new(failure).into()),
            Err(error) => Some(error),
        }
    }

    fn take(&self, read: Mark, into: &mut [u8]) -> Result<(), DeviceError> {
        let staged = self.call(|state| {
            let bytes = into.len();
            state.streams.take_read(&mut state.memory, read, bytes)
        })?;
        staged.copy_out(into);
        self.call(|state| {
            state.streams.unstage(&mut state.memory, staged);
            Ok(())
        })
    }

    fn elapsed(&self, from: Mark, to: Mark) -> Result<Duration, DeviceError> {
        self.call(|state| state.streams.elapsed(&mut state.memory, from, to))
    }

    fn forget(&self, mark: Mark) {
        let forgot = self.call(|state| state.streams.forget(&mut state.memory, mark));
        if let Err(error) = forgot {
            tracing::debug!(%error, "a mark was not forgotten");
        }
    }
}

impl VulkanBackend {
    /// Queues a piece of work, when there is room for it.
    ///
    /// # Safety
    /// As [`Streams::queue`], and arguments of launches match their kernels' parameters.
    unsafe fn queue_order(
        &self,
        stream: StreamId,
        after: &[Mark],
        order: &mut Order,
    ) -> Result<u64, DeviceError> {
        loop {
            // SAFETY: the caller's promise.
            let queued = self.call(|state| unsafe { state.queue(stream, after, order) })?;
            match queued {
                Queued::At(number) => return Ok(number),
                Queued::Full(oldest) => Streams::wait(self, oldest)?,
            }
        }
    }
}
