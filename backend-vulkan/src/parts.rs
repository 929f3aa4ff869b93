//! The command buffers of streams, with what launches in them need: kept, and used again once they have ended.

use crate::commands::{Commands, Next, barrier};
use crate::flight::{Flight, LAUNCHES};
use crate::gpu::Gpu;
use crate::launch::Ready;
use crate::memory::Memory;
use crate::order::What;
use crate::staging::Staged;
use crate::stamps::Slot;
use ash::vk;
use std::sync::Arc;
use warpheap_api::host::{DeviceError, KernelFailure};

/// Launches of a small part: most pieces of work have a few at most.
const FEW: usize = 16;

/// A command buffer of a piece of work.
pub(crate) struct Part {
    commands: Commands,
    /// Where it has launches.
    flight: Option<Flight>,
}

impl Part {
    /// Records launches, at most as many as the part was taken for.
    ///
    /// # Safety
    /// The device does not work on the part. The launches' buffers stay until it has ended, and their arguments match their
    /// kernels' parameters.
    pub(crate) unsafe fn launches(
        &mut self,
        batch: &[Ready],
    ) -> Result<vk::CommandBuffer, DeviceError> {
        // SAFETY: the caller's promise.
        unsafe {
            let commands = self.commands.begin()?;
            if let Some(flight) = &mut self.flight {
                flight.record(commands, batch)?;
            }
        }
        self.commands.end()
    }

    /// Records work of another kind, or of none.
    ///
    /// # Safety
    /// The device does not work on the part. The buffers stay until it has ended.
    pub(crate) unsafe fn other(
        &mut self,
        gpu: &Gpu,
        what: &What,
        staged: Option<&Staged>,
        slot: Option<Slot>,
    ) -> Result<vk::CommandBuffer, DeviceError> {
        // SAFETY: the caller's promise.
        let commands = unsafe { self.commands.begin()? };
        barrier(&gpu.device, commands, Next::Device);
        // SAFETY: the caller's promise; it is recording.
        unsafe { what.record(gpu, commands, staged, slot) };
        self.commands.end()
    }

    /// The entries of its launches, until it was asked for their failure.
    pub(crate) fn entries(&self) -> &[&'static str] {
        self.flight.as_ref().map_or(&[], Flight::entries)
    }

    /// The first failure among its launches, which have ended.
    pub(crate) fn failure(&mut self) -> Option<KernelFailure> {
        self.flight.as_mut()?.failure()
    }

    fn room(&self) -> usize {
        self.flight.as_ref().map_or(0, Flight::room)
    }
}

/// Parts that are not in use, by the launches that they have room for.
pub(crate) struct Parts {
    bare: Vec<Part>,
    few: Vec<Part>,
    many: Vec<Part>,
    gpu: Arc<Gpu>,
}

impl Parts {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Self {
        Parts {
            bare: Vec::new(),
            few: Vec::new(),
            many: Vec::new(),
            gpu: gpu.clone(),
        }
    }

    /// A part for so many launches, at most [`LAUNCHES`].
    pub(crate) fn take(
        &mut self,
        memory: &mut Memory,
        launches: usize,
    ) -> Result<Part, DeviceError> {
        let room = match launches {
            0 => 0,
            1..=FEW => FEW,
            _ => LAUNCHES,
        };
        if let Some(part) = self.shelf(room).pop() {
            return Ok(part);
        }
        let commands = Commands::new(&self.gpu, "warpheap, a stream")?;
        let flight = match room {
            0 => None,
            room => Some(Flight::new(&self.gpu, memory, room, false)?),
        };
        Ok(Part { commands, flight })
    }

    /// Takes a part back that the device does not work on.
    pub(crate) fn give(&mut self, part: Part) {
        self.shelf(part.room()).push(part);
    }

    fn shelf(&mut self, room: usize) -> &mut Vec<Part> {
        match room {
            0 => &mut self.bare,
            1..=FEW => &mut self.few,
            _ => &mut self.many,
        }
    }
}
