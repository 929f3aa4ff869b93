//! What all calls of a device share: its buffers, modules and launch queue.

use crate::memory::Allocation;
use crate::module::Loaded;
use crate::queue::{Queue, Ready};
use crate::session::{LossKind, Session};
use std::collections::HashMap;
use std::time::Duration;
use warpheap_api::abi::HEAP_WORDS;
use warpheap_api::host::{BufferId, DeviceError, HeapArg, Launch, ModuleId};

/// Everything that calls share, in the order in which it is dropped.
pub(crate) struct State {
    pub(crate) queue: Queue,
    pub(crate) modules: HashMap<u64, Loaded>,
    /// How long they took to load.
    pub(crate) load_time: Duration,
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

    /// Makes a heap the one that the collections in a module's kernels take from.
    pub(crate) fn bind(&mut self, module: ModuleId, heap: &HeapArg) -> Result<(), DeviceError> {
        let what = "the heap of Rust's collections";
        let buffer = heap.buffer.id();
        let Some(address) = self.buffers.get(&buffer.0).map(|found| found.address) else {
            return Err(foreign(what, "its pool"));
        };
        let Some(loaded) = self.modules.get_mut(&module.0) else {
            return Err(foreign(what, "the module"));
        };
        if !loaded.takes_heap {
            return Err(DeviceError::BadLaunch {
                kernel: what.to_string(),
                why: "the module's crate has no `global_heap!`".to_string(),
            });
        }
        let bound = loaded.set_heap(heap.arg_words(address));
        bound.map_err(|status| {
            self.session
                .fail("cuModuleGetGlobal", "binding a heap", status)
        })?;
        loaded.heap = Some(buffer);
        Ok(())
    }

    /// Takes a heap away from the modules that it is bound to.
    pub(crate) fn unbind(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        for module in self.modules.values_mut() {
            if module.heap == Some(buffer) {
                module.heap = None;
                let unbound = module.set_heap([0; HEAP_WORDS]);
                unbound.map_err(|status| {
                    self.session
                        .fail("cuModuleGetGlobal", "unbinding a heap", status)
                })?;
            }
        }
        Ok(())
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
            load_time: _,
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
