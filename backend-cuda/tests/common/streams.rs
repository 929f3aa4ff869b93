//! Streams by hand, as a backend has them.

use std::time::{Duration, Instant};
use warpheap_api::host::{
    BufferId, Device, DeviceError, Mark, Prepared, RawBuffer, StreamId, Streams, Work,
};

/// A stream of a device, closed when it is dropped.
pub struct Stream<'a> {
    pub streams: &'a dyn Streams,
    pub id: StreamId,
}

impl<'a> Stream<'a> {
    pub fn open(device: &'a Device) -> Self {
        let streams = device.backend().streams().expect("CUDA has streams");
        let id = streams.open().unwrap();
        Stream { streams, id }
    }

    pub fn open_urgent(device: &'a Device) -> Self {
        let streams = device.backend().streams().expect("CUDA has streams");
        let id = streams.open_urgent().unwrap();
        Stream { streams, id }
    }

    pub fn try_queue(&self, after: &[Mark], work: Work<'_>) -> Result<Mark, DeviceError> {
        // SAFETY: the tests keep buffers until they have waited for the work.
        let at = unsafe { self.streams.queue(self.id, after, work) }?;
        Ok(Mark {
            stream: self.id,
            at,
        })
    }

    pub fn queue(&self, work: Work<'_>) -> Mark {
        self.try_queue(&[], work).unwrap()
    }

    pub fn launch(&self, launch: &Prepared) -> Mark {
        self.launch_after(&[], launch)
    }

    pub fn launch_after(&self, after: &[Mark], launch: &Prepared) -> Mark {
        let launches = [launch.launch().unwrap()];
        self.try_queue(after, Work::Launches(&launches)).unwrap()
    }

    pub fn write(&self, buffer: &RawBuffer, offset: u64, data: &[u8]) -> Mark {
        let buffer = buffer.id();
        self.queue(Work::Write {
            buffer,
            offset,
            data,
        })
    }

    pub fn fill(&self, buffer: &RawBuffer, offset: u64, words: u64, value: u32) -> Mark {
        let buffer = buffer.id();
        self.queue(Work::Fill {
            buffer,
            offset,
            words,
            value,
        })
    }

    pub fn copy(&self, from: (&RawBuffer, u64), to: (&RawBuffer, u64), bytes: u64) -> Mark {
        let id = |(buffer, offset): (&RawBuffer, u64)| (buffer.id(), offset);
        self.queue(Work::Copy {
            from: id(from),
            to: id(to),
            bytes,
        })
    }

    /// Reads bytes and waits for them.
    pub fn read(&self, buffer: BufferId, offset: u64, bytes: u64) -> Vec<u8> {
        let mark = self.queue(Work::Read {
            buffer,
            offset,
            bytes,
        });
        self.wait(mark);
        let mut into = vec![0; bytes as usize];
        self.streams.take(mark, &mut into).unwrap();
        into
    }

    pub fn word(&self, buffer: BufferId, word: u64) -> u32 {
        let bytes = self.read(buffer, word * 4, 4);
        u32::from_ne_bytes(bytes.try_into().unwrap())
    }

    pub fn wait(&self, mark: Mark) {
        self.streams.wait(mark).unwrap();
    }

    pub fn failure(&self) -> Option<DeviceError> {
        self.streams.failure(self.id)
    }

    /// Lanes that failed, according to the first failure, and in which kernel.
    pub fn failed(&self) -> Option<(String, u32)> {
        match self.failure()? {
            DeviceError::Kernel(failure) => Some((failure.kernel.clone(), failure.lanes)),
            other => panic!("{other}"),
        }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        self.streams.close(self.id);
    }
}

/// How long something took.
pub fn timed<T>(call: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = call();
    (result, start.elapsed())
}
