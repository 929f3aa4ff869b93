//! A queue of the backend, and what its work needs until it has ended: what a stream, its events and its readings share.

use super::contents::{Contents, Known};
use super::generation::HeapBlock;
use super::order::{Demand, Demands};
use super::watch::Watched;
use super::{Arg, Device, DeviceError, Mark, Prepared, StreamId, Streams, Work};
use std::collections::VecDeque;
use std::string::ToString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec;
use std::vec::Vec;

/// Pieces of work after which those that have ended are looked for.
const LOOK: usize = 256;

/// A stream of the backend, which it gets back when the last of the stream, its events and its readings is dropped.
#[derive(Debug)]
pub(super) struct Queue {
    device: Device,
    id: StreamId,
    /// Number of the last piece of work.
    newest: AtomicU64,
    /// Whether the next piece of work comes after marks that `held` has: mostly it does not, and need not look.
    has_after: AtomicBool,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// What work that may not have ended needs, by its number.
    kept: VecDeque<(u64, Kept)>,
    /// What the next piece of work comes after, besides.
    after: Vec<Mark>,
    /// Heaps to be asked for mistakes when the work has ended.
    watched: Watched,
}

/// Kept until a piece of work has ended, never looked at.
#[derive(Debug)]
pub(super) enum Kept {
    Launch(#[expect(dead_code, reason = "kept alive")] Prepared),
    Launches(#[expect(dead_code, reason = "kept alive")] Vec<Prepared>),
    Memory(#[expect(dead_code, reason = "kept alive")] Vec<Arg>),
    Cleared(#[expect(dead_code, reason = "kept alive")] (Arg, Option<Known>)),
}

impl Queue {
    pub(super) fn open(device: &Device, urgent: bool) -> Result<Self, DeviceError> {
        let streams = streams(device)?;
        let id = match urgent {
            true => streams.open_urgent()?,
            false => streams.open()?,
        };
        Ok(Queue {
            id,
            device: device.clone(),
            newest: AtomicU64::new(0),
            has_after: AtomicBool::new(false),
            held: Mutex::default(),
        })
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn mark(&self, at: u64) -> Mark {
        Mark {
            stream: self.id,
            at,
        }
    }

    pub(super) fn id(&self) -> StreamId {
        self.id
    }

    /// Number of the last piece of work.
    pub(super) fn newest(&self) -> u64 {
        self.newest.load(Ordering::Acquire)
    }

    /// What is queued from here on comes after a mark.
    pub(super) fn wait_for(&self, mark: Mark) {
        // What is in one queue is in order.
        if mark.stream != self.id {
            self.add_after(&mut vec![mark]);
        }
    }

    fn add_after(&self, marks: &mut Vec<Mark>) {
        if marks.is_empty() {
            return;
        }
        let mut held = self.held();
        held.after.append(marks);
        self.has_after.store(true, Ordering::Release);
    }

    fn take_after(&self) -> Vec<Mark> {
        if !self.has_after.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut held = self.held();
        self.has_after.store(false, Ordering::Release);
        std::mem::take(&mut held.after)
    }

    /// These heaps are to be asked for mistakes.
    pub(super) fn watch(&self, heaps: Watched) {
        if !heaps.is_empty() {
            self.held().watched.append(heaps);
        }
    }

    /// The heaps that are to be asked; from here on there are none.
    pub(super) fn watched(&self) -> Watched {
        std::mem::take(&mut self.held().watched)
    }

    /// Waits on the host for a piece of work, and lets go what it needed.
    pub(super) fn wait(&self, at: u64) -> Result<(), DeviceError> {
        streams(&self.device)?.wait(self.mark(at))?;
        self.let_go(at);
        Ok(())
    }

    /// Queues a piece of work that uses memory so, if a check finds nothing wrong while the memory is held; returns its number.
    ///
    /// # Safety
    /// The memory is not given back before the work has ended.
    pub(super) unsafe fn queue(
        &self,
        demands: Demands<'_>,
        check: impl FnOnce() -> Result<(), DeviceError>,
        work: Work<'_>,
    ) -> Result<u64, DeviceError> {
        // Without memory there is nothing to order.
        let order = self.device.order();
        let permit = (!demands.is_empty()).then(|| order.begin_in(Some(self.id), demands));
        check()?;
        let mut after = self.take_after();
        let before = after.len();
        if let Some(permit) = &permit {
            after.extend_from_slice(permit.after());
        }
        // SAFETY: the caller's promise.
        match unsafe { streams(&self.device)?.queue(self.id, &after, work) } {
            Ok(number) => {
                if let Some(permit) = permit {
                    permit.becomes(self.mark(number));
                }
                self.newest.fetch_max(number, Ordering::AcqRel);
                Ok(number)
            }
            Err(error) => {
                // What was to be waited for is for the next piece of work.
                after.truncate(before);
                self.add_after(&mut after);
                Err(error)
            }
        }
    }

    /// Queues a copy or a fill, unless there is nothing to do.
    pub(super) fn copy(
        &self,
        demands: &[Demand],
        work: Work<'_>,
        memory: Vec<Arg>,
    ) -> Result<(), DeviceError> {
        if demands.iter().all(|demand| demand.bytes() == 0) {
            return Ok(());
        }
        // SAFETY: the memory is kept until the work has ended.
        let number = unsafe { self.queue(demands.into(), || check(&memory, &self.device), work)? };
        self.keep(number, Kept::Memory(memory))
    }

    /// Queues the filling of a vector with zeros, unless there is nothing to do: it has no containers any more.
    pub(super) fn clear(
        &self,
        demand: Demand,
        work: Work<'_>,
        memory: Arg,
        contents: &Contents,
    ) -> Result<(), DeviceError> {
        if demand.bytes() == 0 {
            return Ok(());
        }
        let memory = [memory];
        let mut known = None;
        let check = || {
            check(&memory, &self.device)?;
            known = Some(contents.take());
            Ok(())
        };
        // SAFETY: the memory is kept until the work has ended.
        let queued = unsafe { self.queue([demand].as_slice().into(), check, work) };
        let [memory] = memory;
        match (queued, known) {
            // Work in front of it may use what the owners of containers would free.
            (Ok(number), known) => self.keep(number, Kept::Cleared((memory, known))),
            (Err(error), Some(known)) => {
                contents.put_back(known);
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Keeps what a piece of work needs until it has ended.
    pub(super) fn keep(&self, number: u64, kept: Kept) -> Result<(), DeviceError> {
        let look = {
            let mut held = self.held();
            held.kept.push_back((number, kept));
            held.kept.len() % LOOK == 0
        };
        if look {
            let reached = streams(&self.device)?.reached(self.id)?;
            self.let_go(reached);
        }
        Ok(())
    }

    /// Lets go what work up to a number needed, which has ended.
    fn let_go(&self, at: u64) {
        self.device.order().reached(self.mark(at));
        let done: Vec<_> = {
            let mut held = self.held();
            // Threads that queue at the same time may be out of order here; the rest follows.
            let ended = held.kept.iter().take_while(|(number, _)| *number <= at);
            let ended = ended.count();
            held.kept.drain(..ended).collect()
        };
        // Dropped without the lock: memory goes back to the device.
        drop(done);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // A panic elsewhere leaves nothing half done.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // After a loss nothing can be waited for, and backends keep what the device may still use.
        let _ = self.wait(self.newest());
        if let Ok(streams) = streams(&self.device) {
            streams.close(self.id);
        }
    }
}

/// Refuses vectors of other devices, and those in heaps that were made fresh since.
pub(super) fn check(memory: &[Arg], device: &Device) -> Result<(), DeviceError> {
    for arg in memory {
        let Arg::Slice(slice) = arg else { continue };
        if !slice.buffer.is_of(device) {
            return Err(device.refuses(
                "a vector to be copied on a stream".to_string(),
                slice.buffer.shared(),
                "use a stream of its device, and DeviceVec::copy_from_vec between two",
            ));
        }
        slice.block.as_deref().map_or(Ok(()), HeapBlock::check)?;
    }
    Ok(())
}

/// The streams of a device's backend.
pub(super) fn streams(device: &Device) -> Result<&dyn Streams, DeviceError> {
    device
        .backend()
        .streams()
        .ok_or_else(|| DeviceError::Driver {
            device: device.info().name.clone(),
            call: "opening a stream",
            what: "it has none; launch with `run` or `Device::run_all`".to_string(),
        })
}
