//! Work that the host does not wait for.

use super::bytes::{Zeros, bytes_of, whole_words};
use super::order::{Access, Demand, Demands};
use super::queue::{Kept, Queue, check, streams};
use super::vec::assert_plain;
use super::watch::Watched;
use super::{Device, DeviceError, DeviceVec, Event, Launch, Prepared, Reading, Work, told};
use crate::Element;
use std::string::ToString;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

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
    queue: Arc<Queue>,
}

impl Stream {
    pub(super) fn open(device: &Device, urgent: bool) -> Result<Self, DeviceError> {
        let queue = Arc::new(Queue::open(device, urgent)?);
        Ok(Stream { queue })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.queue.device()
    }

    /// Queues a launch. [`wait`](Self::wait) tells of lanes that return errors.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] for an impossible shape or argument; [`DeviceError::OtherDevice`] if the kernel or an argument is
    /// another device's; as [`Module::id`](super::Module::id); [`DeviceError::Lost`], [`DeviceError::Driver`]. Nothing was queued then.
    pub fn launch(&self, launch: Prepared) -> Result<(), DeviceError> {
        let ready = [launch.ready_for(self.device())?];
        let number = self.queue_launches(&ready)?;
        match launch.has_memory() {
            true => self.queue.keep(number, Kept::Launch(launch)),
            false => Ok(()),
        }
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
        self.queue.keep(number, Kept::Launches(launches))
    }

    fn queue_launches(&self, ready: &[Launch<'_>]) -> Result<u64, DeviceError> {
        let device = self.device();
        let check = || ready.iter().try_for_each(|one| one.check_memory(device));
        let all;
        let demands = match ready {
            [one] => Demands::of(one),
            _ => {
                all = Demand::of_all(ready);
                Demands::from(&*all)
            }
        };
        // SAFETY: the launches keep their memory, and are kept until they have ended.
        let number = unsafe { self.queue.queue(demands, check, Work::Launches(ready)) }?;
        told::queued(ready);
        self.queue.watch(Watched::of(ready));
        Ok(number)
    }

    /// Queues a copy of `data` over all elements of a vector. The data are the caller's again at once.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] unless the lengths are equal; errors of the device.
    pub fn write<T: Element + Copy>(
        &self,
        to: &mut DeviceVec<T>,
        data: &[T],
    ) -> Result<(), DeviceError> {
        const { assert_plain::<T>() }
        to.same_len("Stream::write", data.len())?;
        let demand = to.demand(Access::Overwrite);
        let data = whole_words(bytes_of(data));
        let work = Work::Write {
            buffer: demand.buffer,
            offset: demand.begin,
            data: &data,
        };
        self.queue.copy(&[demand], work, vec![to.arg()])
    }

    /// Sets all elements of a vector to what stands for nothing, as [`DeviceVec::fill_zero`] does.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn fill_zero<T: Element>(&self, vec: &mut DeviceVec<T>) -> Result<(), DeviceError> {
        let demand = vec.demand(Access::Overwrite);
        let (buffer, offset) = (demand.buffer, demand.begin);
        let zeros = Zeros::of::<T>(vec.len());
        let work = match &zeros {
            Zeros::Of(value) => Work::Fill {
                buffer,
                offset,
                words: demand.bytes() / 4,
                value: *value,
            },
            Zeros::Bytes(data) => Work::Write {
                buffer,
                offset,
                data,
            },
        };
        self.queue.clear(demand, work, vec.arg(), vec.contents())
    }

    /// Queues a copy of all elements of a vector over those of another one of the device.
    ///
    /// # Errors
    /// As [`write`](Self::write); [`DeviceError::OtherDevice`] if one of them is another device's.
    pub fn copy<T: Element + Copy>(
        &self,
        from: &DeviceVec<T>,
        to: &mut DeviceVec<T>,
    ) -> Result<(), DeviceError> {
        const { assert_plain::<T>() }
        to.same_len("Stream::copy", from.len())?;
        let memory = vec![from.arg(), to.arg()];
        // Buffers of two backends may have one number.
        check(&memory, self.device())?;
        let (source, target) = (from.demand(Access::Snapshot), to.demand(Access::Overwrite));
        source.apart(&target)?;
        let work = Work::Copy {
            from: (source.buffer, source.begin),
            to: (target.buffer, target.begin),
            bytes: source.bytes(),
        };
        self.queue.copy(&[source, target], work, memory)
    }

    /// Queues a copy of all elements to the host, which [`Reading::wait`] returns.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read<T: Element + Copy>(&self, from: &DeviceVec<T>) -> Result<Reading<T>, DeviceError> {
        let demand = from.demand(Access::Snapshot);
        if demand.bytes() == 0 {
            return Ok(Reading::nothing(&self.queue));
        }
        let work = Work::Read {
            buffer: demand.buffer,
            offset: demand.begin,
            bytes: demand.bytes(),
        };
        let memory = vec![from.arg()];
        // SAFETY: the memory is kept until the copy has ended.
        let number = unsafe {
            self.queue.queue(
                (&[demand][..]).into(),
                || check(&memory, self.device()),
                work,
            )?
        };
        let reading = Reading::of(&self.queue, number, from.len());
        self.queue.keep(number, Kept::Memory(memory))?;
        Ok(reading)
    }

    /// Notes when all that is queued so far has ended: a point that other streams can wait for, with its time.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn event(&self) -> Result<Event, DeviceError> {
        // SAFETY: it uses no memory.
        let number = unsafe { self.queue.queue(Demands::NONE, || Ok(()), Work::Stamp)? };
        Ok(Event::of(&self.queue, number))
    }

    /// What is queued from here on begins when the event is there, on the device: the host does not wait.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if the event is another device's.
    pub fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        self.device().owns(
            event.device(),
            || "the event".to_string(),
            "wait for it on the host, with Event::wait",
        )?;
        self.queue.wait_for(event.mark());
        Ok(())
    }

    /// Waits until all that was queued has ended.
    ///
    /// # Errors
    /// The first failure of a launch since the last time: [`DeviceError::Kernel`] if lanes returned errors, or
    /// [`DeviceError::Panic`], [`DeviceError::Emulator`]. What was queued behind it ran all the same.
    /// [`DeviceError::Mistakes`] if a heap of one of them found some.
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    pub fn wait(&self) -> Result<(), DeviceError> {
        let newest = self.queue.newest();
        self.queue.wait(newest)?;
        let streams = streams(self.device())?;
        let watched = self.queue.watched();
        let Some(first) = streams.failure(self.queue.id()) else {
            return watched.ask(self.device(), || None);
        };
        // Those behind it may only follow from it. A device that is lost would say so for ever.
        let next = || streams.failure(self.queue.id());
        while next().is_some_and(|next| !matches!(next, DeviceError::Lost { .. })) {}
        match first {
            // Lanes may have failed by a mistake.
            DeviceError::Kernel(failure) => {
                watched.ask(self.device(), || Some((*failure).clone()))?;
                Err(failure.into())
            }
            first => Err(first),
        }
    }

    /// Whether all that was queued has ended, without waiting. It may have a little before this says so.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn is_idle(&self) -> Result<bool, DeviceError> {
        let newest = self.queue.newest();
        Ok(streams(self.device())?.reached(self.queue.id())? >= newest)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Err(error) = self.wait() {
            tracing::warn!(%error, "a stream was dropped whose work failed");
        }
    }
}
