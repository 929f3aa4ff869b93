//! A queue of the device, and what is in it.
//!
//! Every submission begins with a barrier behind all that its queue was given before, so that the work of one queue is one line.

use ash::vk;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A queue.
#[derive(Debug)]
pub(crate) struct Line {
    /// One submission at a time.
    queue: Mutex<vk::Queue>,
    /// Command buffers of streams that it was given and that are not known to have ended.
    parts: AtomicU32,
    /// Submissions of synchronous calls that it was given, and that have ended.
    calls: AtomicU64,
    ended_calls: AtomicU64,
}

impl Line {
    pub(crate) fn new(queue: vk::Queue) -> Self {
        Line {
            queue: Mutex::new(queue),
            parts: AtomicU32::new(0),
            calls: AtomicU64::new(0),
            ended_calls: AtomicU64::new(0),
        }
    }

    /// Gives it so many command buffers of a stream.
    ///
    /// # Safety
    /// As for `vkQueueSubmit`, but that nobody else uses the queue meanwhile.
    pub(crate) unsafe fn submit_parts(
        &self,
        device: &ash::Device,
        info: &[vk::SubmitInfo<'_>],
        parts: usize,
    ) -> Result<(), vk::Result> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise; the queue is used under its lock alone.
        unsafe { device.queue_submit(*queue, info, vk::Fence::null()) }?;
        self.parts.fetch_add(parts as u32, Ordering::Relaxed);
        Ok(())
    }

    /// Gives it a submission of a synchronous call. Returns how many command buffers may be ahead of it.
    ///
    /// # Safety
    /// As [`submit_parts`](Self::submit_parts).
    pub(crate) unsafe fn submit_call(
        &self,
        device: &ash::Device,
        info: &[vk::SubmitInfo<'_>],
        fence: vk::Fence,
    ) -> Result<u32, vk::Result> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = self.parts.load(Ordering::Relaxed);
        let ahead = parts.saturating_add(self.open_calls());
        // SAFETY: the caller's promise; the queue is used under its lock alone.
        unsafe { device.queue_submit(*queue, info, fence) }?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(ahead)
    }

    /// Command buffers of streams have ended.
    pub(crate) fn remove_parts(&self, parts: usize) {
        self.parts.fetch_sub(parts as u32, Ordering::Relaxed);
    }

    /// How many submissions of synchronous calls have ended.
    pub(crate) fn ended_calls(&self) -> u64 {
        self.ended_calls.load(Ordering::Relaxed)
    }

    /// How many it may still have to work on.
    pub(crate) fn open_calls(&self) -> u32 {
        let ended = self.ended_calls();
        let open = self.calls.load(Ordering::Relaxed).saturating_sub(ended);
        u32::try_from(open).unwrap_or(u32::MAX)
    }

    /// One more has ended.
    pub(crate) fn call_ended(&self) {
        self.ended_calls.fetch_add(1, Ordering::Relaxed);
    }
}
