//! One stream: what is queued in it, and how far the device was seen to be.
//!
//! `copies` queues copies, `look` asks the device how far it is, `each` tells of each launch,
//! `watches` of panics. Nothing here waits. Every operation that takes a place in the driver's
//! queue is counted, so that it is never full: there the driver would block, and a kernel that never ends could not be noticed.

mod copies;
mod each;
mod look;
mod watches;

use crate::driver;
use crate::handles::{Event, Events, Lane};
use crate::memory::Allocation;
use crate::nvtx;
use crate::posts::Posts;
use crate::ready::Ready;
use crate::reports::{self, Reports};
use crate::staging::{Piece, Staging};
use crate::status::{Refused, Status};
use crate::watch::Watch;
use each::Times;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use warpheap_api::abi::{ARG_REPORT, ArgBlock, REPORT_WORDS};
use warpheap_api::host::DeviceError;

/// Operations of a stream that may wait in the driver's queue: 512 launches and the posts between them. The queue holds about a
/// thousand, and then the driver blocks.
const WINDOW: u64 = 544;

/// Operations of all streams that may wait, since streams may share a queue: the driver has 8, unless it is told otherwise.
const ALL_WINDOWS: u64 = 960;

/// Operations that a stream may have waiting whatever the others have.
const SHARE: u64 = 64;

/// Bytes on their way to the device that a stream has pinned memory for, before more of them wait.
const UNDER_WAY: u64 = 1 << 30;

/// Bytes of a copy that count as much as a launch among what may take time, and behind which a post is worth its cost.
const LARGE: u64 = 64 << 20;

/// When nothing was queued for so long, a post goes behind what was queued before: it costs little then, and who waits for that
/// work does not wait for what follows.
const PAUSE: Duration = Duration::from_micros(10);

/// What the streams of a device share.
pub(crate) struct Shared {
    /// Brings reports to the host beside the streams.
    pub(crate) side: Lane,
    pub(crate) events: Events,
    pub(crate) staging: Staging,
    /// How often a stream was seen to have got on.
    pub(crate) progress: u64,
    /// Modules whose report of panics has to be emptied, and how many lanes were seen in it.
    pub(crate) panicked: Vec<(u64, u32)>,
}

impl Shared {
    /// In the current context.
    pub(crate) fn new() -> Result<Self, Refused> {
        Ok(Shared {
            side: Lane::named("warpheap reports")?,
            events: Events::default(),
            staging: Staging::default(),
            progress: 0,
            panicked: Vec::new(),
        })
    }
}

/// A read that was not taken.
pub(crate) struct Read {
    /// The operation at which it has ended.
    pub(crate) op: u64,
    /// Where the bytes are on the host, one piece after the other, and how many in each.
    pub(crate) parts: Vec<(Piece, usize)>,
}

impl Read {
    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// What the next piece of work puts behind the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fence {
    /// Nothing, unless a post is due.
    None,
    /// A post.
    Post,
    /// A copy of the reports, and a post.
    Reports,
}

/// Copies of reports that are under way beside the stream.
struct Fetch {
    event: Arc<Event>,
    /// The launches before this one.
    end: u64,
}

/// A stream.
pub(crate) struct StreamState {
    lane: Lane,
    /// Whether its kernels go first.
    pub(crate) urgent: bool,
    pub(crate) posts: Posts<Arc<Event>>,
    pub(crate) reports: Reports,
    /// The reports on the device.
    ring: Allocation,
    /// The same on the host.
    mirror: Piece,
    watches: Vec<Watch>,
    fetch: Option<Fetch>,
    stamps: BTreeMap<u64, Arc<Event>>,
    pub(crate) reads: BTreeMap<u64, Read>,
    /// Pinned memory in use, each until an operation has ended.
    used: VecDeque<(u64, Piece)>,
    used_bytes: u64,
    fence: Fence,
    /// Where launches are timed.
    times: Option<Times>,
    /// Up to when the next piece of work follows the last one without a pause.
    follows: Option<Instant>,
    /// Whether a call queues a piece of work in several steps, and other calls have to wait for their turn.
    pub(crate) taken: bool,
}

/// Bytes of the reports of a stream, on the device and on the host.
pub(crate) const RING_BYTES: u64 = reports::SLOTS * reports::BYTES;

impl StreamState {
    /// A stream of the current context, whose reports come to `mirror`, [`RING_BYTES`] of pinned memory.
    pub(crate) fn new(urgent: bool, mirror: Piece) -> Result<Self, (Refused, Piece)> {
        let lane = match urgent {
            true => Lane::urgent(),
            false => Lane::new(),
        };
        let lane = match lane {
            Ok(lane) => lane,
            Err(refused) => return Err((refused, mirror)),
        };
        let ring = match Allocation::new(RING_BYTES) {
            Ok(ring) => ring,
            Err(status) => {
                let call = "cuMemAlloc";
                return Err((Refused { call, status }, mirror));
            }
        };
        if let Some(tool) = nvtx::tool() {
            tool.name_memory(ring.start(), "warpheap reports of a stream");
        }
        Ok(StreamState {
            lane,
            urgent,
            posts: Posts::new(),
            reports: Reports::default(),
            ring,
            mirror,
            watches: Vec::new(),
            fetch: None,
            stamps: BTreeMap::new(),
            reads: BTreeMap::new(),
            used: VecDeque::new(),
            used_bytes: 0,
            fence: Fence::None,
            times: None,
            follows: None,
            taken: false,
        })
    }

    /// Whether nothing is under way, so that it can be opened again.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.posts.is_idle() && self.fetch.is_none()
    }

    /// Begins a stream, a new one or one that was closed and is at rest, with empty reports.
    pub(crate) fn open(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        // SAFETY: the ring has so many bytes and lives as long as the stream.
        unsafe {
            self.lane
                .fill(self.ring.address, RING_BYTES as usize / 4, 0)
        }?;
        self.clear(shared);
        // It may have had another one before.
        self.name("warpheap stream");
        Ok(())
    }

    /// Gives back what a stream at rest holds, but for the room for its reports.
    fn clear(&mut self, shared: &mut Shared) {
        let Shared {
            events, staging, ..
        } = shared;
        self.posts.drain().for_each(|event| events.give(event));
        let fetched = self.fetch.take().map(|fetch| fetch.event);
        let stamps = std::mem::take(&mut self.stamps).into_values();
        stamps.chain(fetched).for_each(|event| events.give(event));
        let reads = std::mem::take(&mut self.reads).into_values();
        let parts = reads.flat_map(|read| read.parts);
        let used = self.used.drain(..).map(|(_, piece)| piece);
        let mirrors = self.watches.drain(..).map(|watch| watch.mirror);
        let pieces = parts.map(|(piece, _)| piece).chain(used).chain(mirrors);
        pieces.for_each(|piece| staging.give(piece));
        self.posts = Posts::new();
        self.reports = Reports::default();
        self.used_bytes = 0;
        self.fence = Fence::None;
        self.times = None;
        self.follows = None;
        self.taken = false;
    }

    /// Frees the memory of a stream whose work has ended; what it has of the driver's frees itself.
    pub(crate) fn close(mut self, shared: &mut Shared) -> Result<(), Status> {
        self.clear(shared);
        let StreamState { mirror, ring, .. } = self;
        shared.staging.give(mirror);
        // SAFETY: the work has ended; the stream was all that knew of it.
        unsafe { ring.free() }
    }

    /// Tells tools what the stream is for.
    pub(crate) fn name(&self, name: &str) {
        self.lane.name(name);
    }

    #[inline]
    fn count(&mut self, ops: u64, time: u64) {
        self.posts.queued.ops += ops;
        self.posts.queued.time += time;
    }

    /// Ends a piece of work; its number.
    #[inline]
    pub(crate) fn complete(&mut self) -> u64 {
        self.posts.queued.pieces += 1;
        self.posts.queued.pieces
    }

    /// What is queued from here on begins when the event was passed.
    pub(crate) fn wait_for(&mut self, event: &Event) -> Result<(), Refused> {
        self.lane.wait_for(event)?;
        self.count(1, 0);
        Ok(())
    }

    /// Whether it is time to count what all streams have in the driver's queues.
    #[inline]
    fn is_counted(&self) -> bool {
        // No post is ever due where each launch has one.
        self.posts.is_due() || self.reports_each()
    }

    /// Whether work has to wait, which takes `bytes` of pinned memory on the way to the device, when `all` operations of all streams
    /// may be in the driver's queues. These are only counted where the next post is due, which is exact enough.
    #[inline]
    pub(crate) fn is_full(&self, bytes: u64, all: impl FnOnce() -> u64) -> bool {
        let own = self.posts.outstanding();
        own >= WINDOW
            || self.reports.is_full()
            || (self.used_bytes > 0 && self.used_bytes + bytes > UNDER_WAY)
            || (own >= SHARE && self.is_counted() && all() >= ALL_WINDOWS)
    }

    /// What to wait for when it is full: half of it is to be done then, so that calls do not wait again at once.
    pub(crate) fn await_room(
        &mut self,
        shared: &mut Shared,
    ) -> Result<Option<Arc<Event>>, Refused> {
        if self.reports.is_full() {
            self.fetch(shared)?;
            if let Some(fetch) = &self.fetch {
                return Ok(Some(fetch.event.clone()));
            }
        }
        if self.posts.is_open() && self.posts.newest().is_none() {
            self.post(shared)?;
        }
        let half = self.posts.leaving(self.posts.outstanding() / 2);
        let copied = match self.used.get(self.used.len() / 2) {
            Some((op, _)) => self.posts.behind_op(*op),
            None => None,
        };
        let event = match self.used_bytes > UNDER_WAY / 2 {
            true => copied.or(half),
            false => half,
        };
        Ok(event.or(self.posts.newest()).cloned())
    }

    /// Begins a piece of work: puts a post behind the one before, if it is time for one, or somebody will want to wait for just that.
    pub(crate) fn begin(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        let now = Instant::now();
        let follows = self.follows.replace(now + PAUSE);
        if !self.posts.is_open() {
            return Ok(());
        }
        let paused = follows.is_some_and(|until| now > until);
        match self.fence {
            Fence::Reports => self.post_with_reports(shared),
            Fence::Post => self.post(shared),
            Fence::None if paused || self.posts.is_due() => self.post(shared),
            Fence::None => Ok(()),
        }
    }

    /// Queues a launch, before which `panicked` lanes of its module are known to have panicked.
    ///
    /// # Safety
    /// As [`driver::launch`], until the launch has ended.
    pub(crate) unsafe fn launch(
        &mut self,
        launch: &Ready,
        args: &mut ArgBlock,
        panicked: u32,
        shared: &mut Shared,
    ) -> Result<(), Refused> {
        if self.posts.is_due() {
            self.post(shared)?;
        }
        while let Some(slot) = self.reports.dirty() {
            let (at, words) = (self.ring.address + slot * reports::BYTES, REPORT_WORDS);
            // SAFETY: a place in the ring, which lives as long as the stream.
            unsafe { self.lane.fill(at, words, 0) }?;
            self.reports.cleaned();
            self.count(1, 0);
        }
        let number = self.posts.queued.launches;
        let report = self.ring.address + reports::slot(number) * reports::BYTES;
        args.words[ARG_REPORT] = report as u32;
        args.words[ARG_REPORT + 1] = (report >> 32) as u32;
        let clock = self.start_clock(shared)?;
        let Ready {
            entry,
            kernel,
            grid_dim,
            block_dim,
            ..
        } = launch;
        // SAFETY: the caller's promise; the report lies in the ring.
        unsafe { driver::launch(*kernel, *grid_dim, *block_dim, self.lane.raw(), args) }?;
        self.posts.queued.launches += 1;
        self.count(1, 1);
        self.reports.push(entry);
        if launch.reports_panics {
            let mut watches = self.watches.iter_mut();
            if let Some(watch) = watches.find(|watch| watch.module == launch.module) {
                watch.push(number, entry, panicked);
            }
        }
        match clock {
            Some(before) => self.stop_clock(number, before, shared),
            None => Ok(()),
        }
    }

    /// Ends a piece of work in which there is nothing to do. It counts as an operation, so that a post can be put behind it.
    pub(crate) fn nothing(&mut self) -> u64 {
        self.count(1, 0);
        self.complete()
    }

    /// Queues a stamp, which is its own post; its number.
    pub(crate) fn stamp(&mut self, shared: &mut Shared) -> Result<u64, Refused> {
        let event = shared.events.timed()?;
        self.lane.record(&event)?;
        let number = self.complete();
        self.posts.put(event.clone());
        self.stamps.insert(number, event);
        Ok(number)
    }

    pub(crate) fn stamp_at(&self, number: u64) -> Option<&Arc<Event>> {
        self.stamps.get(&number)
    }

    /// Forgets a stamp.
    pub(crate) fn forget_stamp(&mut self, number: u64, shared: &mut Shared) {
        if let Some(event) = self.stamps.remove(&number) {
            shared.events.give(event);
        }
    }

    /// Names of the launches that may be running.
    pub(crate) fn running(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.reports.names_from(self.posts.ended().launches)
    }

    /// The first failure since the last time.
    pub(crate) fn failure(&mut self) -> Option<DeviceError> {
        self.reports.take()
    }
}
