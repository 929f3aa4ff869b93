//! What all calls of a device share: its buffers, modules and streams.

use crate::handles::{Lane, unpin};
use crate::memory::Allocation;
use crate::module::Loaded;
use crate::nvtx;
use crate::ready::Ready;
use crate::recent::{Found, Recent};
use crate::session::{LossKind, Session};
use crate::status::Status;
use crate::stream::{Shared, StreamState};
use crate::table::Table;
use std::collections::BTreeMap;
use warpheap_api::abi::{ARG_WORDS, ArgBlock, HEAP_WORDS, SLICE_WORDS};
use warpheap_api::host::{BufferId, BufferKind, DeviceError, HeapArg, Launch, ModuleId, aligned};

/// Everything that calls share, in the order in which it is dropped.
pub(crate) struct State {
    pub(crate) modules: BTreeMap<u64, Loaded>,
    pub(crate) recent: Recent,
    pub(crate) buffers: Table<Allocation>,
    /// Memory that nothing uses, to be freed when no stream works.
    pub(crate) retired: Vec<Allocation>,
    pub(crate) streams: Table<StreamState>,
    /// Streams that were closed, to be opened again.
    pub(crate) spare: Vec<StreamState>,
    /// Streams for work of other libraries, on which there is none.
    pub(crate) lent: Vec<Lane>,
    pub(crate) shared: Shared,
    /// Calls that wait until no stream works, before which nothing more is queued.
    pub(crate) settling: u32,
    /// Calls that wait until they may queue work.
    pub(crate) paused: u32,
    /// Modules of which a call runs launches, beside which no stream begins others.
    pub(crate) reserved: Vec<u64>,
    pub(crate) session: Session,
}

impl State {
    /// Whether launches of streams may write to the same report of panics as these launches.
    pub(crate) fn shares_panics(&self, launches: &[Launch<'_>]) -> bool {
        let mut streams = self.streams.values();
        streams.any(|stream| {
            let mut open = stream.open_modules();
            open.any(|open| launches.iter().any(|launch| launch.module.0 == open))
        })
    }

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
        let found = self.buffers.get(buffer.0).ok_or_else(|| out(0))?;
        if end > found.bytes {
            return Err(out(found.bytes));
        }
        aligned(what, offset, 4)?;
        aligned(what, bytes, 4)?;
        Ok(found.address + offset)
    }

    /// Looks up everything that a launch needs but the place for its report, and puts its arguments into a block of zeros.
    pub(crate) fn prepare(
        &mut self,
        launch: &Launch<'_>,
        args: &mut ArgBlock,
    ) -> Result<Ready, DeviceError> {
        let found = self.kernel(launch)?;
        if nvtx::tool().is_some() {
            self.name_buffers(launch);
        }
        let (lanes, most) = (launch.config.block_dim, found.max_block_dim);
        if lanes > most && most > 0 {
            return Err(DeviceError::BadLaunch {
                kernel: launch.entry.to_string(),
                why: format!(
                    "{lanes} lanes a block, with its {} registers a lane at most {most} fit on this GPU",
                    found.registers
                ),
            });
        }
        // More than fit are refused below.
        let mut addresses = [0; ARG_WORDS / SLICE_WORDS];
        let mut places = addresses.iter_mut();
        for (buffer, offset, bytes) in launch.args.iter().filter_map(|arg| arg.binding()) {
            let Some(room) = self.buffers.get(buffer.0) else {
                return Err(foreign(launch.entry, "a buffer among its arguments"));
            };
            if offset.saturating_add(bytes) > room.bytes {
                return Err(DeviceError::BadLaunch {
                    kernel: launch.entry.to_string(),
                    why: format!(
                        "an argument of {bytes} bytes at {offset} reaches beyond its buffer of {} bytes",
                        room.bytes
                    ),
                });
            }
            if let Some(place) = places.next() {
                *place = room.address;
            }
        }
        let mut addresses = addresses.iter();
        launch.put_args(args, 0, |_| addresses.next().copied().unwrap_or(0))?;
        Ok(Ready {
            entry: launch.entry,
            module: launch.module.0,
            reports_panics: found.reports_panics,
            kernel: found.raw,
            grid_dim: launch.config.grid_dim,
            block_dim: launch.config.block_dim,
        })
    }

    /// Tells the tool that is there what a launch tells of its buffers.
    #[cold]
    fn name_buffers(&mut self, launch: &Launch<'_>) {
        for (buffer, kind) in launch.buffer_kinds() {
            self.name_buffer(buffer, kind);
        }
    }

    /// Takes memory in as a buffer.
    pub(crate) fn keep(&mut self, allocation: Allocation) -> BufferId {
        let buffer = BufferId(self.buffers.insert(allocation));
        self.name_buffer(buffer, BufferKind::Buffer);
        buffer
    }

    /// Tells the tool, if there is one, what a buffer is.
    pub(crate) fn name_buffer(&mut self, buffer: BufferId, kind: BufferKind) {
        let (Some(tool), Some(found)) = (nvtx::tool(), self.buffers.get_mut(buffer.0)) else {
            return;
        };
        if let Some(name) = found.known.learn(kind, found.bytes) {
            tool.name_memory(found.start(), &name);
        }
    }

    /// The kernel of a launch.
    fn kernel(&mut self, launch: &Launch<'_>) -> Result<Found, DeviceError> {
        let (id, entry, lanes) = (launch.module.0, launch.entry, launch.config.block_dim);
        if let Some(found) = self.recent.get(id, entry)
            && lanes <= found.max_block_dim
        {
            return Ok(*found);
        }
        let Some(module) = self.modules.get_mut(&id) else {
            return Err(foreign(entry, "its module"));
        };
        let usual = module.kernel(&mut self.session, entry)?;
        let kernel = module.kernel_for(&mut self.session, entry, lanes)?;
        let found = Found {
            raw: kernel.raw,
            registers: kernel.info.registers,
            max_block_dim: kernel.info.max_block_dim,
            reports_panics: module.reports_panics,
        };
        // Smaller blocks that come later are better off with the other one.
        if kernel.raw == usual.raw {
            self.recent.put(id, entry, found);
        }
        Ok(found)
    }

    /// Makes a heap the one that the collections in a module's kernels take from. No kernel runs meanwhile.
    pub(crate) fn bind(&mut self, module: ModuleId, heap: &HeapArg) -> Result<(), DeviceError> {
        let what = "the heap of Rust's collections";
        let buffer = heap.buffer.id();
        let Some(address) = self.buffers.get(buffer.0).map(|found| found.address) else {
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

    /// Whether a buffer is the heap of a module's collections.
    pub(crate) fn is_bound(&self, buffer: BufferId) -> bool {
        self.modules
            .values()
            .any(|module| module.heap == Some(buffer))
    }

    /// Tells the modules that a heap is bound to how large it is now. No kernel runs meanwhile.
    pub(crate) fn rebind(&mut self, heap: &HeapArg) -> Result<(), DeviceError> {
        let buffer = heap.buffer.id();
        let bound = self.modules.iter();
        let bound = bound.filter(|(_, module)| module.heap == Some(buffer));
        let bound: Vec<ModuleId> = bound.map(|(id, _)| ModuleId(*id)).collect();
        let mut bound = bound.into_iter();
        bound.try_for_each(|module| self.bind(module, heap))
    }

    /// Takes a heap away from the modules that it is bound to. No kernel runs meanwhile.
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
    pub(crate) fn close(mut self) {
        if self.session.loss().is_none() {
            if let Err(status) = self.session.make_current() {
                tracing::warn!(%status, "the device could not be closed");
                return std::mem::forget(self);
            }
            if let Err(error) = self.finish_streams() {
                tracing::warn!(%error, "streams of a device that was closed had not ended");
                if self.session.loss().is_none() {
                    return std::mem::forget(self);
                }
            }
        }
        match self.session.loss() {
            None => {}
            Some(LossKind::Fault) => {
                // The context takes the rest with it; each of its parts would only fail again.
                std::mem::forget((self.modules, self.buffers));
                std::mem::forget((self.streams, self.spare, self.lent, self.shared));
                return self.session.abandon();
            }
            Some(LossKind::Hang) => return std::mem::forget(self),
        }
        let State {
            modules,
            buffers,
            retired,
            streams,
            spare,
            lent,
            mut shared,
            session,
            settling: _,
            reserved: _,
            paused: _,
            recent: _,
        } = self;
        let closed = streams.into_values().chain(spare);
        drop(lent);
        let closed = closed.map(|stream| stream.close(&mut shared));
        let closed = closed.fold(Ok(()), Result::and);
        let Shared {
            side,
            events,
            staging,
            ..
        } = shared;
        // SAFETY: nothing runs: the work of streams has ended, and every other call has waited for what it queued. All pieces were
        // given back, but those of reads that are being taken, of which there are none: taking one borrows the backend.
        let unpinned = staging.close().map(|start| unsafe { unpin(start) });
        let unpinned = unpinned.map(|freed| freed.map_err(|refused| refused.status));
        let freed = buffers
            .into_values()
            .chain(retired)
            // SAFETY: as above.
            .map(|buffer| unsafe { buffer.free() })
            .chain(unpinned)
            .fold(Ok::<(), Status>(()), Result::and)
            .and(closed);
        if let Err(status) = freed {
            tracing::warn!(%status, "memory could not be freed");
        }
        drop((side, events));
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
