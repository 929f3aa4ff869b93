//! One stream: what is under way in it, and what came of what has ended.

use crate::gpu::Gpu;
use crate::launch::named;
use crate::line::Line;
use crate::memory::Memory;
use crate::order::{Order, What};
use crate::parts::{Part, Parts};
use crate::staging::{Staged, Staging};
use crate::stamps::{Slot, Stamps};
use crate::timeline::Timeline;
use ash::vk;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use warpheap_api::host::{DeviceError, KernelFailure};

/// Most command buffers that a stream has under way. A piece of work that needs more has the stream for itself.
const PARTS: usize = 32;

/// What pieces of work take, and give back when they have ended.
pub(crate) struct Stores {
    pub(crate) parts: Parts,
    pub(crate) staging: Staging,
}

/// A piece of work of another stream that one waits for.
#[derive(Clone)]
pub(crate) struct Other {
    /// The stream.
    pub(crate) stream: u64,
    pub(crate) at: u64,
    pub(crate) timeline: Arc<Timeline>,
}

/// A piece of work that was submitted and is not known to have ended.
struct Piece {
    at: u64,
    parts: Vec<Part>,
    /// Data that nobody needs when it has ended.
    staged: Option<Staged>,
    /// What it waits for. It holds the semaphores alive.
    after: Vec<Other>,
}

/// A stream.
pub(crate) struct Stream {
    pub(crate) line: Arc<Line>,
    pub(crate) timeline: Arc<Timeline>,
    /// It was given back while work in it ran on.
    pub(crate) closed: bool,
    /// Number of the last piece of work.
    queued: u64,
    /// Number of the last one that is known to have ended.
    ended: u64,
    under_way: VecDeque<Piece>,
    /// The first failure among the launches that have ended, until it is asked for.
    failure: Option<KernelFailure>,
    reads: HashMap<u64, Staged>,
    pub(crate) stamps: Stamps,
    gpu: Arc<Gpu>,
}

impl Stream {
    pub(crate) fn new(gpu: &Arc<Gpu>, line: &Arc<Line>) -> Result<Self, DeviceError> {
        Ok(Stream {
            line: line.clone(),
            timeline: Timeline::new(gpu)?,
            closed: false,
            queued: 0,
            ended: 0,
            under_way: VecDeque::new(),
            failure: None,
            reads: HashMap::new(),
            stamps: Stamps::new(gpu),
            gpu: gpu.clone(),
        })
    }

    /// Number of the last piece of work.
    pub(crate) fn queued(&self) -> u64 {
        self.queued
    }

    /// Number of the last piece of work that is known to have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// Whether all work is known to have ended.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Number of the oldest piece of work under way.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.under_way.front().map(|piece| piece.at)
    }

    /// Whether the oldest piece of work has to end before there is room for one of so many parts.
    pub(crate) fn is_full(&self, parts: usize) -> bool {
        let under_way: usize = self.under_way.iter().map(|piece| piece.parts.len()).sum();
        under_way != 0 && under_way + parts > PARTS
    }

    /// How many command buffers the oldest piece of work has.
    pub(crate) fn oldest_parts(&self) -> usize {
        let oldest = self.under_way.front();
        oldest.map_or(0, |piece| piece.parts.len())
    }

    /// The streams that the oldest piece of work waits for.
    pub(crate) fn oldest_waits_for(&self) -> impl Iterator<Item = u64> {
        let oldest = self.under_way.iter().take(1);
        oldest.flat_map(|piece| piece.after.iter().map(|other| other.stream))
    }

    /// What the oldest piece of work is, if it has launches.
    pub(crate) fn oldest_launches(&self) -> Option<String> {
        let parts = self.under_way.front()?.parts.iter();
        let entries: Vec<_> = parts
            .flat_map(|part| part.entries().iter().copied())
            .collect();
        named(&entries)
    }

    /// Asks the device how far it is, and takes back what pieces of work that have ended had.
    pub(crate) fn refresh(
        &mut self,
        stores: &mut Stores,
        memory: &mut Memory,
    ) -> Result<(), DeviceError> {
        if self.is_idle() {
            return Ok(());
        }
        let reached = self.timeline.value();
        let reached = self.gpu.check("vkGetSemaphoreCounterValue", reached)?;
        let has_ended = |piece: &mut Piece| piece.at <= reached;
        while let Some(piece) = self.under_way.pop_front_if(has_ended) {
            self.ended = piece.at;
            self.line.remove_parts(piece.parts.len());
            for mut part in piece.parts {
                let failure = part.failure();
                self.failure = self.failure.take().or(failure);
                stores.parts.give(part);
            }
            if let Some(staged) = piece.staged {
                stores.staging.give(memory, staged);
            }
        }
        Ok(())
    }

    /// Whether the device works on nothing of it, without waiting.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_idle()
            || match self.timeline.value() {
                Ok(reached) => reached >= self.queued,
                // A lost device works on nothing any more.
                Err(error) => error == vk::Result::ERROR_DEVICE_LOST,
            }
    }

    /// Submits a piece of work behind all that is in the stream and behind `after`, takes the data out of the order and returns the
    /// number.
    ///
    /// # Safety
    /// The buffers of the work stay until it has ended, and arguments of launches match their kernels' parameters.
    pub(crate) unsafe fn submit(
        &mut self,
        stores: &mut Stores,
        memory: &mut Memory,
        after: Vec<Other>,
        order: &mut Order,
    ) -> Result<u64, DeviceError> {
        let at = self.queued + 1;
        let slot = match order.what {
            What::Stamp => self.stamps.take(at)?,
            _ => None,
        };
        let mut parts = Vec::new();
        // SAFETY: the caller's promise; parts in the store have ended.
        let sent = unsafe {
            self.record(stores, memory, order, slot, &mut parts)
                .and_then(|commands| self.send(at, &after, &commands, parts.len()))
        };
        if let Err(error) = sent {
            self.stamps.forget(at);
            parts.into_iter().for_each(|part| stores.parts.give(part));
            return Err(error);
        }
        self.queued = at;
        let mut staged = order.staged.take();
        if let What::Read { .. } = order.what
            && let Some(staged) = staged.take()
        {
            self.reads.insert(at, staged);
        }
        self.under_way.push_back(Piece {
            at,
            parts,
            staged,
            after,
        });
        Ok(at)
    }

    /// Records the commands of a piece of work into parts out of the store.
    ///
    /// # Safety
    /// As [`submit`](Self::submit).
    unsafe fn record(
        &self,
        stores: &mut Stores,
        memory: &mut Memory,
        order: &Order,
        slot: Option<Slot>,
        parts: &mut Vec<Part>,
    ) -> Result<Vec<vk::CommandBuffer>, DeviceError> {
        let mut commands = Vec::new();
        if let What::Launches(batch) = &order.what {
            for batch in batch.chunks(crate::flight::LAUNCHES) {
                let part = parts.push_mut(stores.parts.take(memory, batch.len())?);
                // SAFETY: the caller's promise; a part in the store has ended.
                commands.push(unsafe { part.launches(batch)? });
            }
        }
        if commands.is_empty() {
            let part = parts.push_mut(stores.parts.take(memory, 0)?);
            let staged = order.staged.as_ref();
            // SAFETY: the caller's promise; a part in the store has ended.
            commands.push(unsafe { part.other(&self.gpu, &order.what, staged, slot)? });
        }
        Ok(commands)
    }

    /// Hands commands to the queue, as one submission: either all of them are there or none.
    ///
    /// What they wait for was submitted before, also if it is in the same queue: queues take submissions in order, so that one
    /// never stands before what it waits for, and some piece of work can always go on.
    ///
    /// Memory needs nothing besides. A semaphore makes everything visible to who waits for it; within a queue the barrier at the
    /// beginning of every command buffer does; and all queues are of one family, which shares buffers.
    ///
    /// # Safety
    /// As [`submit`](Self::submit); the commands are ready.
    unsafe fn send(
        &self,
        at: u64,
        after: &[Other],
        commands: &[vk::CommandBuffer],
        parts: usize,
    ) -> Result<(), DeviceError> {
        let waits: Vec<_> = after.iter().map(|other| other.timeline.raw).collect();
        let values: Vec<_> = after.iter().map(|other| other.at).collect();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let (signals, numbers) = ([self.timeline.raw], [at]);
        let mut timelines = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values)
            .signal_semaphore_values(&numbers);
        let info = [vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(commands)
            .signal_semaphores(&signals)
            .push_next(&mut timelines)];
        // SAFETY: the semaphores are alive, and stay as long as the piece of work is under way; numbers go up; the caller's promise.
        let sent = unsafe { self.line.submit_parts(&self.gpu.device, &info, parts) };
        self.gpu.check("vkQueueSubmit", sent)
    }

    /// The first failure among the launches that have ended and were not asked for.
    pub(crate) fn take_failure(&mut self) -> Option<KernelFailure> {
        self.failure.take()
    }

    /// Takes out what the piece of work `at` read, `bytes` bytes.
    pub(crate) fn take_read(&mut self, at: u64, bytes: usize) -> Result<Staged, DeviceError> {
        if let Some(staged) = self.reads.get(&at).filter(|_| at <= self.ended) {
            if staged.bytes() != bytes {
                return Err(DeviceError::OutOfRange {
                    what: "taking what was read",
                    got: bytes as u64,
                    room: staged.bytes() as u64,
                });
            }
            if let Some(staged) = self.reads.remove(&at) {
                return Ok(staged);
            }
        }
        Err(self.no_such("taking what was read"))
    }

    /// Forgets what the piece of work `at` read, or the timestamp that it is. Returns data that the device has finished with.
    pub(crate) fn forget(&mut self, at: u64) -> Option<Staged> {
        self.stamps.forget(at);
        let staged = self.reads.remove(&at)?;
        // Without its own the device would still write into what the next read uses.
        match self.under_way.iter_mut().find(|piece| piece.at == at) {
            Some(piece) => {
                piece.staged = Some(staged);
                None
            }
            None => Some(staged),
        }
    }

    /// All that was read and that nobody took.
    pub(crate) fn untaken(&mut self) -> impl Iterator<Item = Staged> {
        self.reads.drain().map(|(_, staged)| staged)
    }

    /// The ticks of the piece of work `at`.
    pub(crate) fn ticks(&self, at: u64) -> Result<u64, DeviceError> {
        match at <= self.ended {
            true => self.stamps.ticks(at)?,
            false => None,
        }
        .ok_or_else(|| self.no_such("reading a timestamp"))
    }

    fn no_such(&self, call: &'static str) -> DeviceError {
        no_such(&self.gpu, call)
    }
}

/// A mark that is not one of what a call is about.
pub(crate) fn no_such(gpu: &Gpu, call: &'static str) -> DeviceError {
    DeviceError::Driver {
        device: gpu.limits.name.clone(),
        call,
        what: "there is none at this mark, or it has not been reached".to_string(),
    }
}
