//! Moving bytes between the host and buffers, through two staging buffers in turn.
//!
//! While the device copies one piece, the host copies the next into or out of the other buffer.

use crate::commands::{Next, barrier};
use crate::gpu::Gpu;
use crate::memory::{Buffer, Mapped, Memory};
use crate::slot::CommandSlot;
use ash::vk;
use std::ptr::NonNull;
use std::sync::Arc;
use warpheap_api::host::DeviceError;

/// Bytes that one fill command sets at most.
const FILL_BYTES: u64 = 1 << 30;

struct Stage {
    slot: CommandSlot,
    mapped: Mapped,
}

/// The staging buffers and their commands.
pub(crate) struct Transfer {
    stages: [Stage; 2],
    gpu: Arc<Gpu>,
}

impl Transfer {
    /// Two staging buffers of `bytes` bytes each.
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        memory: &mut Memory,
        bytes: u64,
    ) -> Result<Self, DeviceError> {
        let bytes = bytes.max(64 << 10).next_multiple_of(4);
        let mut stage = || {
            Ok::<_, DeviceError>(Stage {
                slot: CommandSlot::new(gpu, &gpu.copy_line, "warpheap copies")?,
                mapped: memory.mapped(bytes, "warpheap staging")?,
            })
        };
        Ok(Transfer {
            stages: [stage()?, stage()?],
            gpu: gpu.clone(),
        })
    }

    /// Whether the device works on no piece, without waiting.
    pub(crate) fn ended(&mut self) -> bool {
        self.stages.iter_mut().all(|stage| stage.slot.ended())
    }

    /// Writes `data` into `target` at `offset`; the range lies inside.
    pub(crate) fn write(
        &mut self,
        target: Buffer,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let result = self.write_pieces(target, offset, data);
        self.drain(result)
    }

    /// Reads from `source` at `offset` into `data`; the range lies inside.
    pub(crate) fn read(
        &mut self,
        source: Buffer,
        offset: u64,
        data: &mut [u8],
    ) -> Result<(), DeviceError> {
        let result = self.read_pieces(source, offset, data);
        self.drain(result)
    }

    /// Sets `bytes` bytes of `target` from `offset` to `value` repeated; the range lies inside.
    pub(crate) fn fill(
        &mut self,
        target: Buffer,
        offset: u64,
        bytes: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        let [stage, _] = &mut self.stages;
        let commands = stage.slot.begin()?;
        barrier(&self.gpu.device, commands, Next::Device);
        self.gpu.fill(commands, target, offset, bytes, value);
        let result = stage.slot.submit();
        self.drain(result)
    }

    /// Copies `bytes` bytes from one place to another one; the ranges lie inside and do not overlap.
    pub(crate) fn copy(
        &mut self,
        from: (Buffer, u64),
        to: (Buffer, u64),
        bytes: u64,
    ) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        let [stage, _] = &mut self.stages;
        let commands = stage.slot.begin()?;
        let region = region(from.1, to.1, bytes);
        self.gpu.copy(commands, from.0, to.0, region, Next::Device);
        let result = stage.slot.submit();
        self.drain(result)
    }

    fn write_pieces(
        &mut self,
        target: Buffer,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let size = self.stages[0].mapped.buffer.bytes as usize;
        for (piece, bytes) in data.chunks(size).enumerate() {
            let stage = &mut self.stages[piece % 2];
            // Waits for the copy that used this stage before.
            let commands = stage.slot.begin()?;
            // SAFETY: the stage has `size` mapped bytes, at least as many as the piece, and the
            // device is not using them.
            unsafe {
                stage
                    .mapped
                    .address
                    .copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
            }
            let at = offset + (piece * size) as u64;
            let region = region(0, at, bytes.len() as u64);
            self.gpu
                .copy(commands, stage.mapped.buffer, target, region, Next::Device);
            stage.slot.submit()?;
        }
        Ok(())
    }

    fn read_pieces(
        &mut self,
        source: Buffer,
        offset: u64,
        data: &mut [u8],
    ) -> Result<(), DeviceError> {
        let size = self.stages[0].mapped.buffer.bytes as usize;
        let pieces = data.len().div_ceil(size);
        let bytes = data.len();
        let bounds = |piece: usize| piece * size..((piece + 1) * size).min(bytes);
        // One piece ahead: the device copies piece n + 1 while the host takes piece n out.
        for step in 0..=pieces {
            if step < pieces {
                let range = bounds(step);
                let stage = &mut self.stages[step % 2];
                let commands = stage.slot.begin()?;
                let region = region(offset + range.start as u64, 0, range.len() as u64);
                self.gpu
                    .copy(commands, source, stage.mapped.buffer, region, Next::Host);
                stage.slot.submit()?;
            }
            if let Some(ready) = step.checked_sub(1) {
                let range = bounds(ready);
                let stage = &mut self.stages[ready % 2];
                stage.slot.wait()?;
                let out = &mut data[range];
                // SAFETY: the stage has at least as many mapped bytes as the piece; the copy into
                // it has finished, and its barrier made it visible to the host.
                unsafe {
                    stage
                        .mapped
                        .address
                        .copy_to_nonoverlapping(NonNull::from(&mut *out).cast(), out.len());
                }
            }
        }
        Ok(())
    }

    /// Waits for what is still under way, also after an error: callers may free the buffers next.
    fn drain(&mut self, result: Result<(), DeviceError>) -> Result<(), DeviceError> {
        let mut result = result;
        for stage in &mut self.stages {
            // A lost device answers no more; its buffers are never freed.
            if !matches!(result, Err(DeviceError::Lost { .. })) {
                result = result.and(stage.slot.wait());
            }
        }
        result
    }
}

impl Gpu {
    /// Records that `bytes` bytes of `target` from `offset` are set to `value` repeated.
    pub(crate) fn fill(
        &self,
        commands: vk::CommandBuffer,
        target: Buffer,
        offset: u64,
        bytes: u64,
        value: u32,
    ) {
        let mut done = 0;
        while done < bytes {
            let piece = FILL_BYTES.min(bytes - done);
            // SAFETY: recording; offset and size are multiples of 4 inside the buffer, which was
            // made as a target of transfers.
            unsafe {
                let device = &self.device;
                device.cmd_fill_buffer(commands, target.raw, offset + done, piece, value);
            }
            done += piece;
        }
    }

    /// Records a copy, after everything before it and before `next`.
    pub(crate) fn copy(
        &self,
        commands: vk::CommandBuffer,
        from: Buffer,
        to: Buffer,
        region: vk::BufferCopy,
        next: Next,
    ) {
        barrier(&self.device, commands, Next::Device);
        // SAFETY: recording; the region lies inside both buffers, which were made for transfers.
        unsafe {
            self.device
                .cmd_copy_buffer(commands, from.raw, to.raw, &[region]);
        }
        barrier(&self.device, commands, next);
    }
}

/// Where a copy of `bytes` bytes begins in its two buffers.
pub(crate) fn region(from: u64, to: u64, bytes: u64) -> vk::BufferCopy {
    vk::BufferCopy::default()
        .src_offset(from)
        .dst_offset(to)
        .size(bytes)
}
