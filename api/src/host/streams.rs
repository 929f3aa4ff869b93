//! What a backend implements so that work runs beside other work.
//!
//! A stream is a queue of work on the device. What is queued there runs in order, each piece after the one before has ended and with
//! its writes visible. Pieces of different streams run in any order, or at the same time, unless a [`Mark`] orders them.

use super::{BufferId, DeviceError, Launch};
use std::time::Duration;

/// Names a stream of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId(pub u64);

/// A point in a stream: it is reached when the piece of work with this number, and so all before it, has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// The stream.
    pub stream: StreamId,
    /// Number of a piece of work there: the first one is 1, and 0 is reached from the start.
    pub at: u64,
}

/// One piece of work of a stream.
#[derive(Clone, Copy, Debug)]
pub enum Work<'a> {
    /// Launches, each after the one before has ended and with its writes visible.
    Launches(&'a [Launch<'a>]),
    /// Writes `data` at byte `offset` of a buffer (a multiple of 4, like its length). The data are the caller's again when
    /// [`queue`](Streams::queue) returns.
    Write {
        /// Where to.
        buffer: BufferId,
        /// From which byte on.
        offset: u64,
        /// What.
        data: &'a [u8],
    },
    /// Reads `bytes` bytes from byte `offset` of a buffer (both multiples of 4). [`take`](Streams::take) gets them.
    Read {
        /// Where from.
        buffer: BufferId,
        /// From which byte on.
        offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Sets `words` 32-bit words from byte `offset` (a multiple of 4) to `value`.
    Fill {
        /// Where.
        buffer: BufferId,
        /// From which byte on.
        offset: u64,
        /// How many words.
        words: u64,
        /// What they are set to.
        value: u32,
    },
    /// Copies `bytes` bytes between ranges that do not overlap; all numbers are multiples of 4.
    Copy {
        /// Where from: buffer and byte offset.
        from: (BufferId, u64),
        /// Where to: buffer and byte offset.
        to: (BufferId, u64),
        /// How many.
        bytes: u64,
    },
    /// Notes the time at which it is reached, for [`elapsed`](Streams::elapsed).
    Stamp,
}

/// The streams of a backend.
///
/// Calls may come from any thread. While a call waits for a stream, calls of other threads go on. No call but
/// [`wait`](Self::wait) waits for work to end, except [`queue`](Self::queue) when the driver's queue is full.
///
/// After a loss every call returns [`DeviceError::Lost`].
pub trait Streams: Send + Sync {
    /// A new stream, in which nothing is queued.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn open(&self) -> Result<StreamId, DeviceError>;

    /// A new stream whose kernels begin before those of others that wait for room on the device, where there is such a thing; elsewhere
    /// a stream.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn open_urgent(&self) -> Result<StreamId, DeviceError> {
        self.open()
    }

    /// Gives a stream back whose work has ended, or whose device was lost. Unknown ids are ignored.
    fn close(&self, stream: StreamId);

    /// Queues a piece of work behind all that is in the stream, and behind the marks of other streams: it begins when they are
    /// reached, and sees what was written before them. Returns its number.
    ///
    /// # Errors
    /// As [`Backend::submit`](super::Backend::submit), [`write`](super::Backend::write), [`read`](super::Backend::read) and
    /// [`fill`](super::Backend::fill); then nothing was queued.
    ///
    /// # Safety
    /// The buffers are not given back before the work has ended.
    unsafe fn queue(
        &self,
        stream: StreamId,
        after: &[Mark],
        work: Work<'_>,
    ) -> Result<u64, DeviceError>;

    /// Up to which number all work of a stream is known to have ended. It asks the device and does not wait; the number may lag
    /// behind, but reaches that of the last piece some time after it has ended.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn reached(&self, stream: StreamId) -> Result<u64, DeviceError>;

    /// Waits until a mark is reached. A mark of a stream that is gone is reached.
    ///
    /// # Errors
    /// [`DeviceError::Lost`] if a launch takes longer than launches may, or the device is gone; [`DeviceError::Driver`].
    fn wait(&self, mark: Mark) -> Result<(), DeviceError>;

    /// The first failure of a launch, in the order of the stream, among those that have ended and were not asked for yet: errors
    /// that lanes returned, panics, what the emulator found. The work behind a launch that failed runs all the same.
    fn failure(&self, stream: StreamId) -> Option<DeviceError>;

    /// Copies what [`Work::Read`] brought, once its mark is reached; `into` has as many bytes. Once for each.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn take(&self, read: Mark, into: &mut [u8]) -> Result<(), DeviceError>;

    /// The time on the device between two [`Work::Stamp`]s of one or of two streams, both reached; nothing if `to` came first.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn elapsed(&self, from: Mark, to: Mark) -> Result<Duration, DeviceError>;

    /// Forgets a [`Work::Stamp`] or a [`Work::Read`] that nobody will ask for. Unknown marks are ignored.
    fn forget(&self, mark: Mark);
}
