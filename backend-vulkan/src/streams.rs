//! The streams of a device.

use crate::gpu::Gpu;
use crate::memory::{Memory, fresh_id};
use crate::order::Order;
use crate::parts::Parts;
use crate::staging::{Staged, Staging};
use crate::stream::{Other, Stores, Stream, no_such};
use crate::ticks;
use crate::timeline::Timeline;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::host::{DeviceError, KernelFailure, Mark, StreamId};

/// What became of a piece of work.
pub(crate) enum Queued {
    /// It is in the stream, under this number.
    At(u64),
    /// It has to wait for this.
    Full(Mark),
}

/// A mark that was not reached yet.
pub(crate) struct Pending {
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) at: u64,
    /// How far everything is that has to go on for it to be reached.
    pub(crate) standing: Vec<u64>,
    /// How long that may stay the same.
    pub(crate) patience: Duration,
}

/// All streams of a device, and what they share.
pub(crate) struct Table {
    // Before the stores: fields drop in this order.
    streams: BTreeMap<u64, Stream>,
    stores: Stores,
    gpu: Arc<Gpu>,
}

impl Table {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Self {
        Table {
            streams: BTreeMap::new(),
            stores: Stores {
                parts: Parts::new(gpu),
                staging: Staging::default(),
            },
            gpu: gpu.clone(),
        }
    }

    /// A new stream, on the queue that the fewest are on.
    pub(crate) fn open(&mut self, memory: &mut Memory) -> Result<StreamId, DeviceError> {
        if !self.gpu.limits.features.timeline {
            return Err(DeviceError::Driver {
                device: self.gpu.limits.name.clone(),
                call: "opening a stream",
                what: "its driver lacks timelineSemaphore".to_string(),
            });
        }
        self.sweep(memory)?;
        let lines = self.gpu.stream_lines.iter();
        let streams_on = |line: &Arc<_>| {
            let streams = self.streams.values();
            streams
                .filter(|other| Arc::ptr_eq(&other.line, line))
                .count()
        };
        let line = lines.min_by_key(|line| streams_on(line));
        let stream = Stream::new(&self.gpu, line.unwrap_or(&self.gpu.line))?;
        let id = fresh_id();
        self.streams.insert(id, stream);
        Ok(StreamId(id))
    }

    /// Gives a stream back. If work in it runs on, against what was promised, it stays until that has ended.
    pub(crate) fn close(&mut self, memory: &mut Memory, id: StreamId) -> Result<(), DeviceError> {
        if let Some(stream) = self.streams.get_mut(&id.0) {
            stream.closed = true;
        }
        self.sweep(memory)
    }

    /// Drops the streams that were given back.
    fn sweep(&mut self, memory: &mut Memory) -> Result<(), DeviceError> {
        for stream in self.streams.values_mut().filter(|stream| stream.closed) {
            stream.refresh(&mut self.stores, memory)?;
        }
        let over = |_: &u64, stream: &mut Stream| stream.closed && stream.is_idle();
        for (_, mut stream) in self.streams.extract_if(.., over) {
            for staged in stream.untaken() {
                self.stores.staging.give(memory, staged);
            }
        }
        Ok(())
    }

    /// A stream that is there, as far as the device is by now.
    fn fresh(
        &mut self,
        memory: &mut Memory,
        id: StreamId,
    ) -> Result<Option<&mut Stream>, DeviceError> {
        match self.streams.get_mut(&id.0) {
            Some(stream) if !stream.closed => {
                stream.refresh(&mut self.stores, memory)?;
                Ok(Some(stream))
            }
            _ => Ok(None),
        }
    }

    fn refresh_all(&mut self, memory: &mut Memory) -> Result<(), DeviceError> {
        for stream in self.streams.values_mut() {
            stream.refresh(&mut self.stores, memory)?;
        }
        Ok(())
    }

    /// Room for the data of a piece of work.
    pub(crate) fn stage(&mut self, memory: &mut Memory, bytes: u64) -> Result<Staged, DeviceError> {
        self.stores.staging.take(memory, bytes)
    }

    /// Takes back room that the device does not use.
    pub(crate) fn unstage(&mut self, memory: &mut Memory, staged: Staged) {
        self.stores.staging.give(memory, staged);
    }

    /// Queues a piece of work, if there is room for it.
    ///
    /// # Safety
    /// As [`Stream::submit`].
    pub(crate) unsafe fn queue(
        &mut self,
        memory: &mut Memory,
        id: StreamId,
        after: &[Mark],
        order: &mut Order,
    ) -> Result<Queued, DeviceError> {
        let after = self.others(id, after);
        let stream = self.streams.get_mut(&id.0);
        let Some(stream) = stream.filter(|stream| !stream.closed) else {
            return Err(DeviceError::Driver {
                device: self.gpu.limits.name.clone(),
                call: "queueing work",
                what: "there is no such stream".to_string(),
            });
        };
        stream.refresh(&mut self.stores, memory)?;
        let parts = order.what.parts();
        if let Some(at) = stream.oldest().filter(|_| stream.is_full(parts)) {
            return Ok(Queued::Full(Mark { stream: id, at }));
        }
        // SAFETY: the caller's promise.
        let at = unsafe { stream.submit(&mut self.stores, memory, after, order)? };
        Ok(Queued::At(at))
    }

    /// What `after` has of other streams than `id` that is not known to be reached: the last mark of each.
    fn others(&self, id: StreamId, after: &[Mark]) -> Vec<Other> {
        let mut others = BTreeMap::<u64, Other>::new();
        for mark in after.iter().filter(|mark| mark.stream != id) {
            let stream = self.streams.get(&mark.stream.0);
            let Some(stream) = stream.filter(|stream| !stream.closed) else {
                continue;
            };
            // A number that was not given yet would never be waited for in the order of submissions.
            let at = mark.at.min(stream.queued());
            if at <= stream.ended() {
                continue;
            }
            let other = others.entry(mark.stream.0).or_insert_with(|| Other {
                stream: mark.stream.0,
                at,
                timeline: stream.timeline.clone(),
            });
            other.at = other.at.max(at);
        }
        others.into_values().collect()
    }

    /// Up to which number the work of a stream has ended; all of one that is gone.
    pub(crate) fn reached(
        &mut self,
        memory: &mut Memory,
        id: StreamId,
    ) -> Result<u64, DeviceError> {
        let stream = self.fresh(memory, id)?;
        Ok(stream.map_or(u64::MAX, |stream| stream.ended()))
    }

    /// What has to be waited for until a mark is reached; nothing if it is.
    pub(crate) fn look(
        &mut self,
        memory: &mut Memory,
        mark: Mark,
    ) -> Result<Option<Pending>, DeviceError> {
        let Some(stream) = self.fresh(memory, mark.stream)? else {
            return Ok(None);
        };
        // A number that was not given yet would be waited for in vain.
        let at = mark.at.min(stream.queued());
        if at <= stream.ended() {
            return Ok(None);
        }
        let timeline = stream.timeline.clone();
        self.refresh_all(memory)?;
        let mut standing = Vec::new();
        let mut parts = 1;
        for id in self.in_the_way(mark.stream.0) {
            if let Some(stream) = self.streams.get(&id) {
                standing.extend([id, stream.ended(), stream.line.ended_calls()]);
                parts = parts.max(stream.oldest_parts());
            }
        }
        Ok(Some(Pending {
            timeline,
            at,
            standing,
            patience: self.gpu.timeout.saturating_mul(parts as u32),
        }))
    }

    /// The streams of which one at least goes on if `id` is to go on, itself among them: those in its queue, those that its oldest
    /// piece of work waits for, and the same of these.
    fn in_the_way(&self, id: u64) -> BTreeSet<u64> {
        let mut found = BTreeSet::from([id]);
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let Some(stream) = self.streams.get(&id) else {
                continue;
            };
            let others = self.streams.iter();
            let in_queue = others
                .filter(|(_, other)| !other.is_idle() && Arc::ptr_eq(&other.line, &stream.line))
                .map(|(id, _)| *id);
            for other in in_queue.chain(stream.oldest_waits_for()) {
                if found.insert(other) {
                    open.push(other);
                }
            }
        }
        found
    }

    /// The loss of a device on which a mark was waited for so long in vain.
    pub(crate) fn given_up(&self, mark: Mark, waited: Duration) -> DeviceError {
        let stream = self.streams.get(&mark.stream.0);
        let launches = stream.and_then(Stream::oldest_launches);
        let during = launches.unwrap_or_else(|| "waiting for a stream".to_string());
        self.gpu.no_answer(during, waited)
    }

    /// The first failure of a launch that was not asked for.
    pub(crate) fn failure(
        &mut self,
        memory: &mut Memory,
        id: StreamId,
    ) -> Result<Option<KernelFailure>, DeviceError> {
        let stream = self.fresh(memory, id)?;
        Ok(stream.and_then(Stream::take_failure))
    }

    /// Takes out what was read.
    pub(crate) fn take_read(
        &mut self,
        memory: &mut Memory,
        read: Mark,
        bytes: usize,
    ) -> Result<Staged, DeviceError> {
        match self.fresh(memory, read.stream)? {
            Some(stream) => stream.take_read(read.at, bytes),
            None => Err(no_such(&self.gpu, "taking what was read")),
        }
    }

    /// Forgets what was read, or a timestamp.
    pub(crate) fn forget(&mut self, memory: &mut Memory, mark: Mark) -> Result<(), DeviceError> {
        let stream = self.fresh(memory, mark.stream)?;
        if let Some(staged) = stream.and_then(|stream| stream.forget(mark.at)) {
            self.unstage(memory, staged);
        }
        Ok(())
    }

    /// The time between two timestamps. The queues of a device share its clock.
    pub(crate) fn elapsed(
        &mut self,
        memory: &mut Memory,
        from: Mark,
        to: Mark,
    ) -> Result<Duration, DeviceError> {
        let bits = self.gpu.limits.timestamp_bits;
        if bits == 0 {
            return Ok(Duration::ZERO);
        }
        let mut ticks = |mark: Mark| match self.fresh(memory, mark.stream)? {
            Some(stream) => stream.ticks(mark.at),
            None => Err(no_such(&self.gpu, "reading a timestamp")),
        };
        let (before, after) = (ticks(from)?, ticks(to)?);
        let tick_ns = self.gpu.limits.tick_ns;
        Ok(if from.stream != to.stream {
            ticks::ahead(before, after, bits, tick_ns)
        } else if from.at <= to.at {
            ticks::elapsed(before, after, bits, tick_ns)
        } else {
            Duration::ZERO
        })
    }

    /// Whether the device works on something of a stream, as far as is known.
    pub(crate) fn is_busy(&mut self, memory: &mut Memory) -> Result<bool, DeviceError> {
        self.refresh_all(memory)?;
        Ok(self.streams.values().any(|stream| !stream.is_idle()))
    }

    /// Whether the device works on nothing of any stream, without waiting.
    pub(crate) fn ended(&self) -> bool {
        self.streams.values().all(Stream::has_ended)
    }
}
