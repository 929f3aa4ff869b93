//! The emulator's streams, as the host calls them.

use crate::HostBackend;
use crate::kept::Brings;
use crate::stream::Piece;
use crate::task::Task;
use std::time::Duration;
use warpheap_api::host::{DeviceError, Mark, StreamId, Streams, Work};

/// A launch takes as long as it takes: what runs for too long is stopped by the watchdog and told of as a failure, so the
/// emulator is never lost.
impl Streams for HostBackend {
    fn open(&self) -> Result<StreamId, DeviceError> {
        self.streams.open(&self.emulator).map_err(|error| {
            let what = format!("no thread could be started for a stream: {error}");
            self.emulator.error("open", what)
        })
    }

    /// Waits for what is still queued.
    fn close(&self, stream: StreamId) {
        self.streams.close(stream);
    }

    /// A mark that is beyond all that its stream has now stands for the last piece there.
    unsafe fn queue(
        &self,
        stream: StreamId,
        after: &[Mark],
        work: Work<'_>,
    ) -> Result<u64, DeviceError> {
        let gone = || {
            let what = format!("there is no stream {}", stream.0);
            let why = "it was closed, or is another device's";
            self.emulator.error("queue", format!("{what}: {why}"))
        };
        let queue = self.streams.get(stream).ok_or_else(gone)?;
        let task = Task::new(&self.emulator, work)?;
        let brings = Brings::of(&task);
        let points = after.iter().filter_map(|&mark| self.streams.point(mark));
        let piece = Piece {
            after: points.collect(),
            task,
        };
        let at = queue.push(piece).ok_or_else(gone)?;
        self.streams.kept.keep(Mark { stream, at }, brings);
        Ok(at)
    }

    fn reached(&self, stream: StreamId) -> Result<u64, DeviceError> {
        Ok(self.streams.get(stream).map_or(u64::MAX, |it| it.reached()))
    }

    fn wait(&self, mark: Mark) -> Result<(), DeviceError> {
        if let Some(point) = self.streams.point(mark) {
            point.wait();
        }
        Ok(())
    }

    fn failure(&self, stream: StreamId) -> Option<DeviceError> {
        self.streams.get(stream)?.failure()
    }

    fn take(&self, read: Mark, into: &mut [u8]) -> Result<(), DeviceError> {
        let taken = self.streams.kept.take(read, into)?;
        taken.ok_or_else(|| self.nothing("take", read, "no read"))
    }

    fn elapsed(&self, from: Mark, to: Mark) -> Result<Duration, DeviceError> {
        let time = |mark| {
            let time = self.streams.kept.time(mark);
            time.ok_or_else(|| self.nothing("elapsed", mark, "no stamp"))
        };
        Ok(time(to)?.saturating_duration_since(time(from)?))
    }

    fn forget(&self, mark: Mark) {
        self.streams.kept.forget(mark);
    }
}

impl HostBackend {
    /// The error of a call that asks for what is not there.
    fn nothing(&self, call: &'static str, mark: Mark, kind: &str) -> DeviceError {
        let Mark { stream, at } = mark;
        let what = format!(
            "work {at} of stream {} has nothing to give: it is {kind}, has not ended, or was taken or forgotten before",
            stream.0
        );
        self.emulator.error(call, what)
    }
}
