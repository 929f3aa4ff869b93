//! A piece of work of a stream is looked up and recorded.

use crate::commands::{Next, barrier};
use crate::flight::LAUNCHES;
use crate::gpu::Gpu;
use crate::launch::Ready;
use crate::memory::Buffer;
use crate::staging::Staged;
use crate::stamps::Slot;
use crate::transfer::region;
use ash::vk;

/// A piece of work with everything looked up: nothing is wrong with it.
pub(crate) struct Order {
    pub(crate) what: What,
    /// Where the data are, if it has some.
    pub(crate) staged: Option<Staged>,
}

/// What it does. Ranges lie inside their buffers.
pub(crate) enum What {
    Launches(Vec<Ready>),
    Write {
        to: Buffer,
        offset: u64,
    },
    Read {
        from: Buffer,
        offset: u64,
    },
    Fill {
        target: Buffer,
        offset: u64,
        bytes: u64,
        value: u32,
    },
    Copy {
        from: (Buffer, u64),
        to: (Buffer, u64),
        bytes: u64,
    },
    Stamp,
}

impl What {
    /// How many command buffers it takes, one at least.
    pub(crate) fn parts(&self) -> usize {
        match self {
            What::Launches(batch) => batch.len().div_ceil(LAUNCHES).max(1),
            _ => 1,
        }
    }

    /// Records it, unless it is launches.
    ///
    /// # Safety
    /// `commands` is recording, behind a barrier, for the stream that the slot is of; the buffers stay until it has ended.
    pub(crate) unsafe fn record(
        &self,
        gpu: &Gpu,
        commands: vk::CommandBuffer,
        staged: Option<&Staged>,
        slot: Option<Slot>,
    ) {
        let copy = |from: Buffer, to: Buffer, region: vk::BufferCopy| {
            // SAFETY: recording; regions lie inside their buffers, which were made for transfers.
            unsafe {
                let device = &gpu.device;
                device.cmd_copy_buffer(commands, from.raw, to.raw, &[region]);
            }
        };
        let pieces = || staged.into_iter().flat_map(Staged::pieces);
        match *self {
            What::Launches(_) => {}
            What::Write { to, offset } => {
                for (stage, begin, bytes) in pieces() {
                    copy(stage, to, region(0, offset + begin, bytes));
                }
            }
            What::Read { from, offset } => {
                for (stage, begin, bytes) in pieces() {
                    copy(from, stage, region(offset + begin, 0, bytes));
                }
                barrier(&gpu.device, commands, Next::Host);
            }
            What::Fill {
                target,
                offset,
                bytes,
                value,
            } => gpu.fill(commands, target, offset, bytes, value),
            What::Copy { from, to, bytes } => {
                if bytes != 0 {
                    copy(from.0, to.0, region(from.1, to.1, bytes));
                }
            }
            What::Stamp => {
                if let Some(slot) = slot {
                    // SAFETY: the caller's promise.
                    unsafe { slot.stamp(gpu, commands) }
                }
            }
        }
    }
}
