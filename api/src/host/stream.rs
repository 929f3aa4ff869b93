//! Work that the host does not wait for.

use super::generation::HeapBlock;
use super::order::{Access, Demand};
use super::vec::bytes_of;
use super::{
    Arg, Device, DeviceError, DeviceVec, Event, Launch, Mark, Prepared, Reading, StreamId, Streams,
    Work,
};
use crate::HeapData;
use std::collections::VecDeque;
use std::format;
use std::string::ToString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;
use std::vec::Vec;

/// Pieces of work after which those that have ended are looked for.
const LOOK: usize = 256;

/// A queue of work on a device, from [`Device::stream`]: launches and copies that run in order there, while the host goes on.
///
/// Work of different streams runs at the same time where the device can. Memory decides what may: work that changes a vector, or
/// reads one that other work changes, begins when that has ended, whichever stream it is on, without the host waiting for it. So do
/// [`DeviceVec::to_vec`] and the other calls that are waited for. Nothing is ordered in *heaps* and in slices of
/// `AtomicWord`s: they are there to be shared by lanes that run at the same time, in one launch or in several.
/// [`wait_for`](Self::wait_for) orders what only the program knows of, such as a block that one launch leaves in a heap for
/// another to read.
///
/// What a stream works with stays until it is done: a vector or a pool may be dropped right after it was launched with. Dropping a
/// stream waits for its work; a failure that nobody asked for goes to the log.
///
/// ```no_run
/// # use warpheap_api::host::{Device, DeviceError, DeviceVec, Prepared};
/// # fn run(device: &Device, first: Prepared, second: Prepared, sums: &DeviceVec<u32>) -> Result<(), DeviceError> {
/// let (left, right) = (device.stream()?, device.stream()?);
/// left.launch(first)?;
/// right.launch(second)?;                // at the same time
/// let sums = right.read(sums)?;         // behind what changes them
/// left.wait()?;
/// println!("{:?}", sums.wait()?);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Stream {
    pub(super) inner: Arc<Inner>,
}

/// A stream of the backend, which it gets back when the last of the stream, its events and its readings is dropped.
#[derive(Debug)]
pub(super) struct Inner {
    device: Device,
    id: StreamId,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// Number of the last piece of work.
    newest: u64,
    /// What work that may not have ended needs, by its number.
    kept: VecDeque<(u64, Kept)>,
    /// What the next piece of work comes after, besides.
    after: Vec<Mark>,
}

/// Kept until a piece of work has ended, never looked at.
#[derive(Debug)]
enum Kept {
    Launch(#[expect(dead_code, reason = "kept alive")] Prepared),
    Launches(#[expect(dead_code, reason = "kept alive")] Vec<Prepared>),
    Memory(#[expect(dead_code, reason = "kept alive")] Vec<Arg>),
}

impl Stream {
    pub(super) fn open(device: &Device) -> Result<Self, DeviceError> {
        let id = streams(device)?.open()?;
        Ok(Stream {
            inner: Arc::new(Inner {
                device: device.clone(),
                id,
                held: Mutex::default(),
            }),
        })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Queues a launch. [`wait`](Self::wait) tells of lanes that return errors.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] for an impossible shape or argument, or a kernel of another device; as
    /// [`Module::id`](super::Module::id); [`DeviceError::Lost`], [`DeviceError::Driver`]. Nothing was queued then.
    pub fn launch(&self, launch: Prepared) -> Result<(), DeviceError> {
        let number = self.queue_launches(&[launch.ready_for(self.device())?])?;
        self.inner.keep(number, Kept::Launch(launch))
    }

    /// Queues launches at once, each behind the one before.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    pub fn launch_all(&self, launches: Vec<Prepared>) -> Result<(), DeviceError> {
        let device = self.device();
        let ready: Result<Vec<_>, _> = launches.iter().map(|one| one.ready_for(device)).collect();
        let ready = ready?;
        if ready.is_empty() {
            return Ok(());
        }
        let number = self.queue_launches(&ready)?;
        drop(ready);
        self.inner.keep(number, Kept::Launches(launches))
    }

    fn queue_launches(&self, ready: &[Launch<'_>]) -> Result<u64, DeviceError> {
        let device = self.device();
        let check = || ready.iter().try_for_each(|one| one.check_memory(device));
        let demands = Demand::of_all(ready);
        // SAFETY: the launches keep their memory, and are kept until they have ended.
        unsafe { self.inner.queue(&demands, check, Work::Launches(ready)) }
    }

    /// Queues a copy of `data` over all elements of a vector. The data are the caller's again at once.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] unless the lengths are equal; errors of the device.
    pub fn write<T: HeapData>(&self, to: &mut DeviceVec<T>, data: &[T]) -> Result<(), DeviceError> {
        to.same_len("Stream::write", data.len())?;
        let demand = to.demand(Access::Overwrite);
        let work = Work::Write {
            buffer: demand.buffer,
            offset: demand.begin,
            data: bytes_of(data),
        };
        self.inner.copy(&[demand], work, vec![to.arg()])
    }

    /// Sets all words of a vector to zero.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn fill_zero<T: HeapData>(&self, vec: &mut DeviceVec<T>) -> Result<(), DeviceError> {
        let demand = vec.demand(Access::Overwrite);
        let work = Work::Fill {
            buffer: demand.buffer,
            offset: demand.begin,
            words: demand.bytes() / 4,
            value: 0,
        };
        self.inner.copy(&[demand], work, vec![vec.arg()])
    }

    /// Queues a copy of all elements of a vector over those of another one.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn copy<T: HeapData>(
        &self,
        from: &DeviceVec<T>,
        to: &mut DeviceVec<T>,
    ) -> Result<(), DeviceError> {
        to.same_len("Stream::copy", from.len())?;
        let (source, target) = (from.demand(Access::Snapshot), to.demand(Access::Overwrite));
        let work = Work::Copy {
            from: (source.buffer, source.begin),
            to: (target.buffer, target.begin),
            bytes: source.bytes(),
        };
        self.inner
            .copy(&[source, target], work, vec![from.arg(), to.arg()])
    }

    /// Queues a copy of all elements to the host, which [`Reading::wait`] returns.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read<T: HeapData>(&self, from: &DeviceVec<T>) -> Result<Reading<T>, DeviceError> {
        let demand = from.demand(Access::Snapshot);
        if demand.bytes() == 0 {
            return Ok(Reading::nothing(&self.inner));
        }
        let work = Work::Read {
            buffer: demand.buffer,
            offset: demand.begin,
            bytes: demand.bytes(),
        };
        let memory = vec![from.arg()];
        // SAFETY: the memory is kept until the copy has ended.
        let number = unsafe {
            self.inner
                .queue(&[demand], || check(&memory, self.device()), work)?
        };
        let reading = Reading::of(&self.inner, number, from.len());
        self.inner.keep(number, Kept::Memory(memory))?;
        Ok(reading)
    }

    /// Notes when all that is queued so far has ended: a point that other streams can wait for, with its time.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn event(&self) -> Result<Event, DeviceError> {
        // SAFETY: it uses no memory.
        let number = unsafe { self.inner.queue(&[], || Ok(()), Work::Stamp)? };
        Ok(Event::of(&self.inner, number))
    }

    /// What is queued from here on begins when the event is there, on the device: the host does not wait.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the event is another device's.
    pub fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        let (device, other) = (self.device(), event.device());
        if !device.is(other) {
            return Err(DeviceError::BadLaunch {
                kernel: "what waits for an event".to_string(),
                why: format!(
                    "the event's device is another one ({}) than the stream's ({}): wait for it on the host, with Event::wait",
                    other.info().name,
                    device.info().name
                ),
            });
        }
        if event.mark().stream != self.inner.id {
            self.inner.held().after.push(event.mark());
        }
        Ok(())
    }

    /// Waits until all that was queued has ended.
    ///
    /// # Errors
    /// The first failure of a launch since the last time: [`DeviceError::Kernel`] if lanes returned errors, or
    /// [`DeviceError::Panic`], [`DeviceError::Emulator`]. What was queued behind it ran all the same.
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    pub fn wait(&self) -> Result<(), DeviceError> {
        let newest = self.inner.held().newest;
        self.inner.wait(newest)?;
        let streams = streams(self.device())?;
        let Some(first) = streams.failure(self.inner.id) else {
            return Ok(());
        };
        // Those behind it may only follow from it. A device that is lost would say so for ever.
        let next = || streams.failure(self.inner.id);
        while next().is_some_and(|next| !matches!(next, DeviceError::Lost { .. })) {}
        Err(first)
    }

    /// Whether all that was queued has ended, without waiting. It may have a little before this says so.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn is_idle(&self) -> Result<bool, DeviceError> {
        let newest = self.inner.held().newest;
        Ok(streams(self.device())?.reached(self.inner.id)? >= newest)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Err(error) = self.wait() {
            tracing::warn!(%error, "a stream was dropped whose work failed");
        }
    }
}

impl Inner {
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn mark(&self, at: u64) -> Mark {
        Mark {
            stream: self.id,
            at,
        }
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
    unsafe fn queue(
        &self,
        demands: &[Demand],
        check: impl FnOnce() -> Result<(), DeviceError>,
        work: Work<'_>,
    ) -> Result<u64, DeviceError> {
        // Without memory there is nothing to order.
        let permit = (!demands.is_empty()).then(|| self.device.order().begin(demands));
        check()?;
        let mut after = std::mem::take(&mut self.held().after);
        let before = after.len();
        if let Some(permit) = &permit {
            after.extend(permit.after_others(self.id));
        }
        // SAFETY: the caller's promise.
        match unsafe { streams(&self.device)?.queue(self.id, &after, work) } {
            Ok(number) => {
                if let Some(permit) = permit {
                    permit.becomes(self.mark(number));
                }
                Ok(number)
            }
            Err(error) => {
                // What was to be waited for is for the next piece of work.
                after.truncate(before);
                self.held().after.append(&mut after);
                Err(error)
            }
        }
    }

    /// Queues a copy or a fill, unless there is nothing to do.
    fn copy(
        &self,
        demands: &[Demand],
        work: Work<'_>,
        memory: Vec<Arg>,
    ) -> Result<(), DeviceError> {
        if demands.iter().all(|demand| demand.bytes() == 0) {
            return Ok(());
        }
        // SAFETY: the memory is kept until the work has ended.
        let number = unsafe { self.queue(demands, || check(&memory, &self.device), work)? };
        self.keep(number, Kept::Memory(memory))
    }

    /// Keeps what a piece of work needs until it has ended.
    fn keep(&self, number: u64, kept: Kept) -> Result<(), DeviceError> {
        let look = {
            let mut held = self.held();
            held.newest = held.newest.max(number);
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
        let mut done = Vec::new();
        {
            let mut held = self.held();
            // Threads that queue at the same time may be out of order here; the rest follows.
            while held.kept.front().is_some_and(|(number, _)| *number <= at) {
                done.extend(held.kept.pop_front());
            }
        }
        // Dropped without the lock: memory goes back to the device.
        drop(done);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // A panic elsewhere leaves nothing half done.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // After a loss nothing can be waited for, and backends keep what the device may still use.
        let newest = self.held().newest;
        let _ = self.wait(newest);
        if let Ok(streams) = streams(&self.device) {
            streams.close(self.id);
        }
    }
}

/// Refuses vectors of other devices, and those in heaps that were made fresh since.
fn check(memory: &[Arg], device: &Device) -> Result<(), DeviceError> {
    for arg in memory {
        let Arg::Slice(slice) = arg else { continue };
        if !slice.buffer.is_of(device) {
            return Err(DeviceError::BadLaunch {
                kernel: "a copy".to_string(),
                why: format!(
                    "a vector is memory of another device ({}) than the stream's ({}): copy by way of the host",
                    slice.buffer.device_name(),
                    device.info().name
                ),
            });
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
