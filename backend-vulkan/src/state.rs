//! What the calls of a backend share, and what is left of it after a loss.

use crate::calls::Calls;
use crate::gpu::Gpu;
use crate::launch::{Ready, prepare};
use crate::memory::{Buffer, Memory};
use crate::order::{Order, What};
use crate::pace::Pace;
use crate::pipeline::{Pipelines, Unready};
use crate::queue::Queue;
use crate::streams::{Queued, Table};
use crate::transfer::Transfer;
use std::sync::Arc;
use warpheap_api::host::{BufferId, DeviceError, Launch, Mark, StreamId, Work, aligned};

/// Bytes of the buffer that stands for an empty slice.
const NOTHING_BYTES: u64 = 256;

/// Everything that calls share, in the order in which it is dropped.
pub(crate) struct State {
    pub(crate) streams: Table,
    pace: Pace,
    pub(crate) pipelines: Pipelines,
    pub(crate) memory: Memory,
    nothing: Buffer,
    /// The error of the call that lost the device.
    loss: Option<DeviceError>,
    pub(crate) gpu: Arc<Gpu>,
}

impl State {
    /// The state, and what calls have for themselves beside it.
    pub(crate) fn new(gpu: Arc<Gpu>, staging_bytes: u64) -> Result<(Self, Calls), DeviceError> {
        let mut memory = Memory::new(&gpu)?;
        let queue = Queue::new(&gpu, &mut memory)?;
        let transfer = Transfer::new(&gpu, &mut memory, staging_bytes)?;
        let state = State {
            streams: Table::new(&gpu),
            pace: Pace::default(),
            pipelines: Pipelines::new(&gpu),
            nothing: memory.internal(NOTHING_BYTES, "warpheap, an empty slice")?,
            memory,
            loss: None,
            gpu,
        };
        Ok((state, Calls::new(queue, transfer)))
    }

    /// Begins a call: refuses it after a loss.
    pub(crate) fn enter(&self) -> Result<(), DeviceError> {
        match &self.loss {
            Some(loss) => Err(loss.clone()),
            None => Ok(()),
        }
    }

    /// Ends a call: notes a loss, and turns what the validation layer said into an error.
    pub(crate) fn leave<T>(&mut self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        let complaint = self.gpu.instance.take_messages();
        if let Err(error @ DeviceError::Lost { .. }) = &result {
            tracing::error!(%error, "device lost");
            self.loss = Some(error.clone());
        }
        match (result, complaint) {
            (Ok(_), Some(what)) => Err(DeviceError::Driver {
                device: self.gpu.limits.name.clone(),
                call: "validation",
                what,
            }),
            (result, _) => result,
        }
    }

    /// A buffer in which `bytes` bytes from `offset` lie.
    pub(crate) fn range(
        &self,
        what: &'static str,
        buffer: BufferId,
        offset: u64,
        bytes: u64,
    ) -> Result<Buffer, DeviceError> {
        let end = offset.saturating_add(bytes);
        let out = |room| DeviceError::OutOfRange {
            what,
            got: end,
            room,
        };
        let found = self.memory.get(buffer).ok_or_else(|| out(0))?;
        if end > found.bytes {
            return Err(out(found.bytes));
        }
        aligned(what, offset, 4)?;
        aligned(what, bytes, 4)?;
        Ok(found)
    }

    /// The two ends of a copy of `bytes` bytes.
    pub(crate) fn ends(
        &self,
        from: (BufferId, u64),
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<[(Buffer, u64); 2], DeviceError> {
        let source = self.range("copy", from.0, from.1, bytes)?;
        let target = self.range("copy", to.0, to.1, bytes)?;
        let apart = from.1.abs_diff(to.1);
        if from.0 == to.0 && apart < bytes {
            return Err(DeviceError::OutOfRange {
                what: "a copy over itself",
                got: bytes,
                room: apart,
            });
        }
        Ok([(source, from.1), (target, to.1)])
    }

    /// Looks up everything that a piece of work of a stream needs, room for its data included.
    pub(crate) fn look_up(&mut self, work: Work<'_>) -> Result<Order, Unready> {
        let mut data = None;
        let what = match work {
            Work::Launches(launches) => What::Launches(self.prepare(launches)?),
            Work::Write {
                buffer,
                offset,
                data: bytes,
            } => {
                let bytes = *data.insert(bytes.len() as u64);
                let to = self.range("write", buffer, offset, bytes)?;
                What::Write { to, offset }
            }
            Work::Read {
                buffer,
                offset,
                bytes,
            } => {
                let from = self.range("read", buffer, offset, *data.insert(bytes))?;
                What::Read { from, offset }
            }
            Work::Fill {
                buffer,
                offset,
                words,
                value,
            } => {
                let bytes = words.saturating_mul(4);
                let target = self.range("fill", buffer, offset, bytes)?;
                What::Fill {
                    target,
                    offset,
                    bytes,
                    value,
                }
            }
            Work::Copy { from, to, bytes } => {
                let [from, to] = self.ends(from, to, bytes)?;
                What::Copy { from, to, bytes }
            }
            Work::Stamp => What::Stamp,
        };
        let stage = |bytes| self.streams.stage(&mut self.memory, bytes);
        Ok(Order {
            what,
            staged: data.map(stage).transpose()?,
        })
    }

    /// Queues a piece of work in a stream, if there is room for it.
    ///
    /// # Safety
    /// As [`Stream::submit`](crate::stream::Stream::submit).
    pub(crate) unsafe fn queue(
        &mut self,
        stream: StreamId,
        after: &[Mark],
        order: &mut Order,
    ) -> Result<Queued, DeviceError> {
        // A device that works on a stream, or for a call, is not idle.
        let launches = matches!(order.what, What::Launches(_));
        let calls = self.gpu.line.open_calls() > 0;
        if launches && self.pace.keeps() && !calls && !self.streams.is_busy(&mut self.memory)? {
            self.bring_to_pace()?;
        }
        // SAFETY: the caller's promise.
        unsafe { self.streams.queue(&mut self.memory, stream, after, order) }
    }

    /// Turns on or off that launches wait until the device's clock is up.
    pub(crate) fn keep_pace(&mut self, on: bool) {
        self.pace.keep(&self.gpu, on);
    }

    /// Comes before launches that nothing is wrong with.
    pub(crate) fn bring_to_pace(&mut self) -> Result<(), DeviceError> {
        self.pace.before_launch(&self.gpu, &mut self.memory)
    }

    /// Looks up everything that the launches need.
    pub(crate) fn prepare(&mut self, launches: &[Launch<'_>]) -> Result<Vec<Ready>, Unready> {
        for launch in launches {
            self.memory.name_buffers(launch);
        }
        let (gpu, memory, nothing) = (&self.gpu, &self.memory, self.nothing);
        let pipelines = &mut self.pipelines;
        let each = launches.iter();
        each.map(|launch| prepare(gpu, memory, pipelines, nothing, launch))
            .collect()
    }

    /// Frees everything, unless the device still works on something: then it stays.
    pub(crate) fn close(mut self, calls: Calls) {
        if calls.ended() && self.pace.ended() && self.streams.ended() {
            // Before the memory that it uses.
            drop(calls);
        } else {
            tracing::warn!(
                device = %self.gpu.limits.name,
                "a kernel runs on; the memory of the device stays allocated until this process ends"
            );
            std::mem::forget((self, calls));
        }
    }
}
