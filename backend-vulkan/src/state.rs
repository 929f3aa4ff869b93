//! What the calls of a backend share, and what is left of it after a loss.

use crate::gpu::Gpu;
use crate::launch::{Ready, prepare};
use crate::memory::{Buffer, Memory};
use crate::pace::Pace;
use crate::pipeline::Pipelines;
use crate::queue::Queue;
use crate::transfer::Transfer;
use std::sync::Arc;
use warpheap_api::host::{BufferId, DeviceError, Launch};

/// Bytes of the buffer that stands for an empty slice.
const NOTHING_BYTES: u64 = 256;

/// Everything that calls share, in the order in which it is dropped.
pub(crate) struct State {
    pub(crate) queue: Queue,
    pace: Pace,
    pub(crate) transfer: Transfer,
    pub(crate) pipelines: Pipelines,
    pub(crate) memory: Memory,
    nothing: Buffer,
    /// The error of the call that lost the device.
    loss: Option<DeviceError>,
    gpu: Arc<Gpu>,
}

impl State {
    pub(crate) fn new(gpu: Arc<Gpu>, staging_bytes: u64) -> Result<Self, DeviceError> {
        let mut memory = Memory::new(&gpu)?;
        Ok(State {
            queue: Queue::new(&gpu, &mut memory)?,
            pace: Pace::default(),
            transfer: Transfer::new(&gpu, &mut memory, staging_bytes)?,
            pipelines: Pipelines::new(&gpu),
            nothing: memory.internal(NOTHING_BYTES)?,
            memory,
            loss: None,
            gpu,
        })
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
        if end > found.bytes || offset % 4 != 0 || bytes % 4 != 0 {
            return Err(out(found.bytes));
        }
        Ok(found)
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
    pub(crate) fn prepare<'a>(
        &mut self,
        launches: &[Launch<'a>],
    ) -> Result<Vec<Ready<'a>>, DeviceError> {
        let (gpu, memory, nothing) = (&self.gpu, &self.memory, self.nothing);
        let pipelines = &mut self.pipelines;
        let each = launches.iter();
        each.map(|launch| prepare(gpu, memory, pipelines, nothing, launch))
            .collect()
    }

    /// Frees everything, unless the device still works on something: then it stays.
    pub(crate) fn close(mut self) {
        if !self.queue.ended() || !self.transfer.ended() || !self.pace.ended() {
            tracing::warn!(
                device = %self.gpu.limits.name,
                "a kernel runs on; the memory of the device stays allocated until this process ends"
            );
            std::mem::forget(self);
        }
    }
}
