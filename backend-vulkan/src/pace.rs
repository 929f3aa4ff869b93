//! Brings a device to speed before launches that are timed.
//!
//! NVIDIA's driver lets the clock of a GPU fall when a Vulkan program leaves it idle, and raises it only after some work without
//! a pause: on an H200 from 1980 to 345 MHz after 1.5 to 2 s, and back after 0.2 to 0.35 s. A kernel behind a pause then takes
//! 5.6 times as long. Short launches now and then do not keep the clock up, work does, and so does CUDA as long as one of its
//! contexts is there. So what is timed is preceded by work, and never more than a second behind it.

use crate::gpu::Gpu;
use crate::memory::{Buffer, Memory};
use crate::slot::CommandSlot;
use ash::vk;
use std::sync::Arc;
use std::time::{Duration, Instant};
use warpheap_api::host::DeviceError;

/// How long a device is kept busy: longer than any clock was seen to need.
const BUSY: Duration = Duration::from_millis(400);
/// How long after that its clock is sure to be up: less than any was seen to stay.
const FRESH: Duration = Duration::from_secs(1);
/// Bytes that one command sets, and commands of a submission: half a millisecond and more, so that the device hardly waits for
/// the host between two of them.
const BYTES: u64 = 64 << 20;
const COMMANDS: usize = 16;

/// Whether launches wait for the clock, and what it takes.
#[derive(Default)]
pub(crate) struct Pace {
    keep: bool,
    work: Option<(CommandSlot, Buffer)>,
    /// When it was last up.
    up: Option<Instant>,
}

impl Pace {
    /// Turns it on or off. A device that is the CPU has no clock of its own, and under the validation layer, which has its own
    /// idea of writes without a barrier in between, times are of no use.
    pub(crate) fn keep(&mut self, gpu: &Gpu, on: bool) {
        let has_clock = gpu.limits.kind != vk::PhysicalDeviceType::CPU;
        self.keep = on && has_clock && !gpu.instance.validates();
    }

    /// Whether launches wait for the clock.
    pub(crate) fn keeps(&self) -> bool {
        self.keep
    }

    /// Comes before a launch.
    pub(crate) fn before_launch(
        &mut self,
        gpu: &Arc<Gpu>,
        memory: &mut Memory,
    ) -> Result<(), DeviceError> {
        if !self.keep || self.up.is_some_and(|up| up.elapsed() < FRESH) {
            return Ok(());
        }
        let (slot, buffer) = match &mut self.work {
            Some(work) => work,
            none => match memory.internal(BYTES, "warpheap, for the clock") {
                Ok(buffer) => none.insert((
                    CommandSlot::new(gpu, &gpu.line, "warpheap, for the clock")?,
                    buffer,
                )),
                Err(error @ DeviceError::OutOfMemory { .. }) => {
                    // A launch that has room is not refused for that.
                    tracing::debug!(%error, "the clock is not brought up");
                    return Ok(());
                }
                Err(error) => return Err(error),
            },
        };
        let begin = Instant::now();
        while begin.elapsed() < BUSY {
            let commands = slot.begin()?;
            for _ in 0..COMMANDS {
                // SAFETY: recording; the buffer was made as a target of transfers, for this alone. What lies in it does not
                // matter.
                unsafe {
                    gpu.device
                        .cmd_fill_buffer(commands, buffer.raw, 0, BYTES, 0);
                }
            }
            slot.submit()?;
            slot.wait()?;
        }
        self.up = Some(Instant::now());
        Ok(())
    }

    /// Whether the device does not work on it, without waiting.
    pub(crate) fn ended(&mut self) -> bool {
        self.work.as_mut().is_none_or(|(slot, _)| slot.ended())
    }
}
