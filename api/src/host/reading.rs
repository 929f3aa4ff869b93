//! Copies to the host that are under way.

use super::DeviceError;
use super::bytes::filled_by;
use super::queue::{Queue, streams};
use crate::Element;
use core::marker::PhantomData;
use std::sync::Arc;
use std::vec::Vec;

/// Elements on their way from a vector to the host, from [`Stream::read`](super::Stream::read). Dropped, they are forgotten.
#[derive(Debug)]
#[must_use = "the elements are what `wait` returns"]
pub struct Reading<T> {
    queue: Arc<Queue>,
    /// 0 for no elements, and when they were taken.
    number: u64,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Element> Reading<T> {
    pub(super) fn of(queue: &Arc<Queue>, number: u64, len: usize) -> Self {
        Reading {
            queue: queue.clone(),
            number,
            len,
            elements: PhantomData,
        }
    }

    pub(super) fn nothing(queue: &Arc<Queue>) -> Self {
        Self::of(queue, 0, 0)
    }

    /// Waits for the elements.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    pub fn wait(mut self) -> Result<Vec<T>, DeviceError> {
        filled_by(self.len, |bytes| self.take(bytes))
    }

    /// The same copy, counted in bytes.
    pub(super) fn into_bytes(mut self) -> Reading<u8> {
        let bytes = Reading::of(&self.queue, self.number, self.len * size_of::<T>());
        self.number = 0;
        bytes
    }

    /// Waits for the bytes of the elements, to the end of the last word.
    fn take(&mut self, words: &mut [u8]) -> Result<(), DeviceError> {
        if self.number == 0 {
            return Ok(());
        }
        self.queue.wait(self.number)?;
        let mark = self.queue.mark(self.number);
        streams(self.queue.device())?.take(mark, words)?;
        self.number = 0;
        Ok(())
    }
}

impl Reading<u8> {
    /// Waits for the bytes, as many as `into` has.
    pub(super) fn take_bytes(&mut self, into: &mut [u8]) -> Result<(), DeviceError> {
        if into.len() % 4 == 0 {
            return self.take(into);
        }
        let bytes: Vec<u8> = filled_by(into.len(), |words| self.take(words))?;
        into.copy_from_slice(&bytes);
        Ok(())
    }
}

impl<T> Drop for Reading<T> {
    fn drop(&mut self) {
        if self.number != 0
            && let Ok(streams) = streams(self.queue.device())
        {
            streams.forget(self.queue.mark(self.number));
        }
    }
}
