//! What all calls of a device share: its buffers, modules and launch queue.

use crate::memory::Allocation;
use crate::module::Loaded;
use crate::queue::{Queue, Ready};
use crate::session::{LossKind, Session};
use std::collections::HashMap;
use warpheap_api::host::{BufferId, DeviceError, Launch};

/// Everything that calls share, in the order in which it is dropped.
pub(crate) struct State {
    pub(crate) queue: Queue,
    pub(crate) modules: HashMap<u64, Loaded>,
    pub(crate) buffers: HashMap<u64, Allocation>,
    pub(crate) session: Session,
}

impl State {
    /// The address of byte `offset` of a buffer, if `bytes` bytes from there are in it.
    pub(crate) fn range(
        &self,
        what: &'static str,
        buffer: BufferId,
        offset: u64,
        bytes: u64,
    ) -> Result<u64, DeviceError> {
        let end = offset.saturating_add(bytes);
        let out = |room| DeviceError::OutOfRange {
            what,
            got: end,
            room,
        };
        let found = self.buffers.get(&buffer.0).ok_or_else(|| out(0))?;
        if end > found.bytes || offset % 4 != 0 || bytes % 4 != 0 {
            return Err(out(found.bytes));
        }
        Ok(found.address + offset)
    }

    /// Looks up everything that a launch needs. `report` is the address of its report.
    pub(crate) fn prepare<'a>(
        &mut self,
        launch: &Launch<'a>,
        report: u64,
    ) -> Result<Ready<'a>, DeviceError> {
        let Some(module) = self.modules.get_mut(&launch.module.0) else {
            return Err(foreign(launch.entry, "its module"));
        };
        let kernel = module.kernel(&mut self.session, launch.entry)?;
        let (lanes, most) = (launch.config.block_dim, kernel.info.max_block_dim);
        if lanes > most && most > 0 {
            return Err(DeviceError::BadLaunch {
                kernel: launch.entry.to_string(),
                why: format!(
                    "{lanes} lanes a block, with its {} registers a lane at most {most} fit on this GPU",
                    kernel.info.registers
                ),
            });
        }
        for (buffer, offset, bytes) in launch.args.iter().filter_map(|arg| arg.binding()) {
            match self.buffers.get(&buffer.0) {
                None => return Err(foreign(launch.entry, "a buffer among its arguments")),
                Some(found) if offset.saturating_add(bytes) > found.bytes => {
                    return Err(DeviceError::BadLaunch {
                        kernel: launch.entry.to_string(),
                        why: format!(
                            "an argument of {bytes} bytes at {offset} reaches beyond its buffer of {} bytes",
                            found.bytes
                        ),
                    });
                }
                Some(_) => {}
            }
        }
        let address = |id: BufferId| self.buffers.get(&id.0).map_or(0, |found| found.address);
        Ok(Ready {
            entry: launch.entry,
            kernel,
            grid_dim: launch.config.grid_dim,
            block_dim: launch.config.block_dim,
            args: launch.arg_block(report, address)?,
        })
    }

    /// Frees everything that can be freed without waiting for a lost device.
    pub(crate) fn close(self) {
        match self.session.loss() {
            None => {}
            Some(LossKind::Fault) => {
                // The context takes the rest with it; each of its parts would only fail again.
                std::mem::forget((self.queue, self.modules, self.buffers));
                return self.session.abandon();
            }
            Some(LossKind::Hang) => return std::mem::forget(self),
        }
        if let Err(status) = self.session.make_current() {
            tracing::warn!(%status, "the device could not be closed");
            return std::mem::forget(self);
        }
        let State {
            queue,
            modules,
            buffers,
            session,
        } = self;
        let freed = buffers
            .into_values()
            // SAFETY: nothing runs: every call has waited for what it queued.
            .try_for_each(|buffer| unsafe { buffer.free() })
            .and(queue.close());
        if let Err(status) = freed {
            tracing::warn!(%status, "device memory could not be freed");
        }
        drop(modules);
        drop(session);
    }
}

/// The error for a launch with something of another device.
pub(crate) fn foreign(kernel: &str, what: &str) -> DeviceError {
    DeviceError::BadLaunch {
        kernel: kernel.to_string(),
        why: format!("{what} belongs to another device, or is gone"),
    }
}
