//! A queue of the device, and what is in it.
//!
//! Every submission begins with a barrier behind all that its queue was given before, so that the work of one queue is one line.

use ash::vk;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A queue. It is used, and what it counts is changed, under the lock of the backend.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) queue: vk::Queue,
    /// Command buffers of streams that it was given and that are not known to have ended.
    parts: AtomicU32,
    /// Submissions of synchronous calls that have ended.
    calls: AtomicU64,
}

impl Line {
    pub(crate) fn new(queue: vk::Queue) -> Self {
        Line {
            queue,
            parts: AtomicU32::new(0),
            calls: AtomicU64::new(0),
        }
    }

    /// Command buffers of streams that it may still have to work on.
    pub(crate) fn stream_parts(&self) -> u32 {
        self.parts.load(Ordering::Relaxed)
    }

    /// A stream gave it command buffers.
    pub(crate) fn add_parts(&self, parts: usize) {
        self.parts.fetch_add(parts as u32, Ordering::Relaxed);
    }

    /// Those have ended.
    pub(crate) fn remove_parts(&self, parts: usize) {
        self.parts.fetch_sub(parts as u32, Ordering::Relaxed);
    }

    /// How many submissions of synchronous calls have ended.
    pub(crate) fn ended_calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// One more has.
    pub(crate) fn call_ended(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}
