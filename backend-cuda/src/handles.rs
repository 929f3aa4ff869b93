//! Streams, events and pinned memory of the driver.

use crate::nvtx;
use crate::status::{Refused, Status, ask};
use crate::sys::{self, CUcontext, CUevent, CUstream};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::Duration;

/// A point in a stream of the current context, destroyed when it is dropped.
#[derive(Debug)]
pub(crate) struct Event {
    raw: CUevent,
    /// Whether the device notes the time at it.
    timed: bool,
}

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above; the driver serialises calls for one event.
unsafe impl Sync for Event {}

impl Event {
    fn new(timed: bool) -> Result<Self, Refused> {
        let flags = match timed {
            true => sys::event::DEFAULT,
            false => sys::event::DISABLE_TIMING,
        };
        let mut raw = null_mut();
        // SAFETY: room for the answer.
        unsafe { ask!(cuEventCreate(&mut raw, flags)) }?;
        Ok(Event { raw, timed })
    }

    /// Puts the event behind all that is in a stream.
    ///
    /// # Safety
    /// `stream` is a stream of the event's context.
    pub(crate) unsafe fn record(&self, stream: CUstream) -> Result<(), Refused> {
        // SAFETY: the caller's promise; the event lives.
        unsafe { ask!(cuEventRecord(self.raw, stream)) }
    }

    /// Whether the device has passed it; so too if it was never recorded.
    pub(crate) fn passed(&self) -> Result<bool, Refused> {
        // SAFETY: the event lives.
        match unsafe { ask!(cuEventQuery(self.raw)) } {
            Ok(()) => Ok(true),
            Err(refused) if refused.status == Status::NOT_READY => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    /// Waits until the device has passed it; not if it was never recorded.
    pub(crate) fn wait(&self) -> Result<(), Refused> {
        // SAFETY: the event lives.
        unsafe { ask!(cuEventSynchronize(self.raw)) }
    }

    /// The time from another event to this one; both note the time and were passed. Nothing if the other one came later.
    pub(crate) fn since(&self, earlier: &Event) -> Result<Duration, Refused> {
        let mut millis = 0.0;
        // SAFETY: both events live, and there is room for the answer.
        unsafe { ask!(cuEventElapsedTime(&mut millis, earlier.raw, self.raw)) }?;
        Ok(duration(millis))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and destroyed once; what waits for it on the device goes on doing so.
        unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}

/// Events to use again.
#[derive(Default)]
pub(crate) struct Events {
    plain: Vec<Arc<Event>>,
    timed: Vec<Arc<Event>>,
}

impl Events {
    /// An event without a time, which costs less.
    pub(crate) fn plain(&mut self) -> Result<Arc<Event>, Refused> {
        match self.plain.pop() {
            Some(event) => Ok(event),
            None => Event::new(false).map(Arc::new),
        }
    }

    /// An event with a time.
    pub(crate) fn timed(&mut self) -> Result<Arc<Event>, Refused> {
        match self.timed.pop() {
            Some(event) => Ok(event),
            None => Event::new(true).map(Arc::new),
        }
    }

    /// Keeps an event for later, unless somebody else still has it, who would wait for what it is used for next.
    pub(crate) fn give(&mut self, event: Arc<Event>) {
        if Arc::strong_count(&event) == 1 {
            let kept = match event.timed {
                true => &mut self.timed,
                false => &mut self.plain,
            };
            kept.push(event);
        }
    }
}

/// A stream of the driver that waits for no other one, destroyed when it is dropped. Its work ends all the same.
#[derive(Debug)]
pub(crate) struct Lane {
    raw: CUstream,
}

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Lane {}

impl Lane {
    /// A stream of the current context.
    pub(crate) fn new() -> Result<Self, Refused> {
        let mut raw = null_mut();
        // SAFETY: room for the answer.
        unsafe { ask!(cuStreamCreate(&mut raw, sys::STREAM_NON_BLOCKING)) }?;
        Ok(Lane { raw })
    }

    /// One whose kernels begin before all others that wait for a multiprocessor. Those that run go on.
    pub(crate) fn urgent() -> Result<Self, Refused> {
        let mut raw = null_mut();
        // The least number goes first; the driver takes the nearest of those that the device has.
        let priority = i32::MIN;
        // SAFETY: room for the answer.
        unsafe {
            ask!(cuStreamCreateWithPriority(
                &mut raw,
                sys::STREAM_NON_BLOCKING,
                priority
            ))
        }?;
        Ok(Lane { raw })
    }

    /// A stream of the current context with a name for tools.
    pub(crate) fn named(name: &str) -> Result<Self, Refused> {
        let lane = Lane::new()?;
        lane.name(name);
        Ok(lane)
    }

    /// Tells tools what the stream is for.
    pub(crate) fn name(&self, name: &str) {
        nvtx::name_stream(self.raw, name);
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Puts an event behind all that is queued.
    pub(crate) fn record(&self, event: &Event) -> Result<(), Refused> {
        // SAFETY: all events and streams of this crate are of one context for each device, and do not meet those of another one.
        unsafe { event.record(self.raw) }
    }

    /// Waits for everything that was queued.
    pub(crate) fn finish(&self) -> Result<(), Refused> {
        // SAFETY: the stream lives.
        unsafe { ask!(cuStreamSynchronize(self.raw)) }
    }

    /// What is queued from here on begins when an event was passed, as it is recorded now.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<(), Refused> {
        // SAFETY: as for `record`; 0 is the only flag there is.
        unsafe { ask!(cuStreamWaitEvent(self.raw, event.raw, 0)) }
    }

    /// Queues a copy from memory of the host, pinned or not.
    ///
    /// # Safety
    /// Both ranges are valid, and the one on the host is not changed, until the copy has ended.
    pub(crate) unsafe fn to_device(
        &self,
        to: u64,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { ask!(cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, self.raw,)) }
    }

    /// Queues a copy to memory of the host, pinned or not.
    ///
    /// # Safety
    /// Both ranges are valid, and the one on the host is not relied on, until the copy has ended.
    pub(crate) unsafe fn to_host(
        &self,
        to: *mut u8,
        from: u64,
        bytes: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { ask!(cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, self.raw,)) }
    }

    /// Queues a copy on the device.
    ///
    /// # Safety
    /// Both ranges are valid until the copy has ended.
    pub(crate) unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { ask!(cuMemcpyDtoDAsync_v2(to, from, bytes, self.raw)) }
    }

    /// Queues a copy to another context: each place is an address and the context that it is of.
    ///
    /// # Safety
    /// Both ranges are valid, and both contexts held, until the copy has ended.
    pub(crate) unsafe fn copy_to_peer(
        &self,
        (to, to_context): (u64, CUcontext),
        (from, from_context): (u64, CUcontext),
        bytes: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe {
            ask!(cuMemcpyPeerAsync(
                to,
                to_context,
                from,
                from_context,
                bytes,
                self.raw
            ))
        }
    }

    /// Queues setting `words` words to `value`.
    ///
    /// # Safety
    /// The range is valid until that has ended.
    pub(crate) unsafe fn fill(&self, at: u64, words: usize, value: u32) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { ask!(cuMemsetD32Async(at, value, words, self.raw)) }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and destroyed once.
        unsafe { sys::cuStreamDestroy_v2(self.raw) };
    }
}

/// Memory of the host that the device copies from and to by itself. It is not freed by itself.
pub(crate) fn pin(bytes: usize) -> Result<NonNull<u8>, Refused> {
    let mut start = null_mut();
    // SAFETY: room for the answer; no flags.
    unsafe { ask!(cuMemHostAlloc(&mut start, bytes, 0)) }?;
    NonNull::new(start.cast()).ok_or(Refused {
        call: "cuMemHostAlloc",
        status: Status::OUT_OF_MEMORY,
    })
}

/// Gives pinned memory back. The driver may wait for the device meanwhile.
///
/// # Safety
/// It is what [`pin`] returned in this context, it is freed once, and nothing uses it any more.
pub(crate) unsafe fn unpin(start: NonNull<u8>) -> Result<(), Refused> {
    // SAFETY: the caller's promise.
    unsafe { ask!(cuMemFreeHost(start.as_ptr().cast())) }
}

/// Waits for what was queued on the default stream of the current context.
pub(crate) fn end_of_default_stream() -> Result<(), Refused> {
    // SAFETY: null is the default stream.
    unsafe { ask!(cuStreamSynchronize(null_mut())) }
}

/// The driver's milliseconds; nothing for what is no time.
fn duration(millis: f32) -> Duration {
    Duration::try_from_secs_f64(millis as f64 / 1e3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_never_nonsense() {
        assert_eq!(duration(0.5), Duration::from_micros(500));
        assert_eq!(duration(-1.0), Duration::ZERO);
        assert_eq!(duration(f32::NAN), Duration::ZERO);
    }
}
