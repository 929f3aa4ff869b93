//! One stream: what is queued in it, and how far the device was seen to be.
//!
//! Nothing here waits. Every operation that takes a place in the driver's queue is counted, so that it is never full: there the driver
//! would block, and a kernel that never ends could not be noticed.

use crate::driver;
use crate::handles::{Event, Events, Lane, Refused};
use crate::memory::Allocation;
use crate::posts::Posts;
use crate::queue::Ready;
use crate::reports::{self, Reports};
use crate::staging::{Piece, Staging};
use crate::status::Status;
use crate::watch::{self, Watch};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use warpheap_api::abi::{ARG_REPORT, PANIC_WORDS, REPORT_WORDS};
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
            side: Lane::new()?,
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
    /// When the last piece of work was queued.
    called: Option<Instant>,
    /// Whether a call queues a piece of work in several steps, and other calls have to wait for their turn.
    pub(crate) taken: bool,
}

/// Bytes of the reports of a stream, on the device and on the host.
pub(crate) const RING_BYTES: u64 = reports::SLOTS * reports::BYTES;

impl StreamState {
    /// A stream of the current context, whose reports come to `mirror`, [`RING_BYTES`] of pinned memory.
    pub(crate) fn new(mirror: Piece) -> Result<Self, (Refused, Piece)> {
        let lane = match Lane::new() {
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
        Ok(StreamState {
            lane,
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
            called: None,
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
        self.called = None;
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

    fn count(&mut self, ops: u64, time: u64) {
        self.posts.queued.ops += ops;
        self.posts.queued.time += time;
    }

    /// Ends a piece of work; its number.
    pub(crate) fn complete(&mut self) -> u64 {
        self.posts.queued.pieces += 1;
        self.posts.queued.pieces
    }

    /// Puts a post at the end.
    pub(crate) fn post(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        let event = shared.events.plain()?;
        self.lane.record(&event)?;
        self.posts.put(event);
        self.fence = Fence::None;
        Ok(())
    }

    /// The same behind copies of all reports that are not on the host.
    pub(crate) fn post_with_reports(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        let queued = self.posts.queued;
        let first = queued.copied.max(self.reports.looked());
        if first < queued.launches {
            let copies = self.copy_reports(&self.lane, first, queued.launches)?;
            self.count(copies, 0);
        }
        self.posts.queued.copied = queued.launches;
        self.post(shared)
    }

    /// Queues copies of the reports of some launches, and of the reports of panics that they may have written to. How many copies.
    fn copy_reports(&self, lane: &Lane, first: u64, end: u64) -> Result<u64, Refused> {
        let mut copies = 0;
        for slots in reports::slots(first..end) {
            if slots.is_empty() {
                continue;
            }
            let at = slots.start * reports::BYTES;
            let bytes = (slots.end - slots.start) * reports::BYTES;
            let Some(to) = within(&self.mirror, at) else {
                continue;
            };
            // SAFETY: the places are in the ring and in its mirror, which live as long as the stream; the places on the host are
            // looked at behind this copy.
            unsafe { lane.to_host(to, self.ring.address + at, bytes as usize) }?;
            copies += 1;
        }
        for watch in self.watches.iter().filter(|w| w.is_open_before(end)) {
            // SAFETY: the module's report lives as long as the backend, and its mirror as long as the stream; both have so many bytes.
            unsafe { lane.to_host(watch.mirror.start, watch.report, watch::BYTES) }?;
            copies += 1;
        }
        Ok(copies)
    }

    /// Begins to bring the reports of launches that have ended to the host, unless that is under way.
    pub(crate) fn fetch(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        let (first, end) = (self.reports.looked(), self.posts.ended().launches);
        if self.fetch.is_some() || first >= end {
            return Ok(());
        }
        self.copy_reports(&shared.side, first, end)?;
        let event = shared.events.plain()?;
        shared.side.record(&event)?;
        self.fetch = Some(Fetch { event, end });
        Ok(())
    }

    /// Asks the device how far it is, and looks at what has come to the host.
    pub(crate) fn look(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        let events = &mut shared.events;
        let on = self
            .posts
            .advance(|event| event.passed(), |event| events.give(event))?;
        let ended = *self.posts.ended();
        if on {
            shared.progress += 1;
            while let Some((_, piece)) = self.used.pop_front_if(|(op, _)| *op <= ended.ops) {
                self.used_bytes -= piece.bytes as u64;
                shared.staging.give(piece);
            }
        }
        let mut end = ended.copied;
        let fetched = match &self.fetch {
            Some(fetch) => fetch.event.passed()?,
            None => false,
        };
        if fetched && let Some(fetch) = self.fetch.take() {
            end = end.max(fetch.end);
            shared.events.give(fetch.event);
        }
        if end > self.reports.looked() {
            self.look_at_reports(end, shared);
        }
        self.posts.tell(self.reports.looked());
        if ended.launches >= self.reports.looked() + reports::MANY {
            self.fetch(shared)?;
        }
        Ok(())
    }

    /// Looks at the reports of the launches before `end`, which are on the host.
    fn look_at_reports(&mut self, end: u64, shared: &mut Shared) {
        for watch in &mut self.watches {
            if !watch.is_open_before(end) {
                continue;
            }
            // SAFETY: the mirror has so many words; a copy of the module's report behind these launches has ended.
            let words: [u32; PANIC_WORDS] = unsafe { read_words(watch.mirror.start) };
            if let Some((launch, panic)) = watch.look(end, &words) {
                shared.panicked.push((watch.module, panic.lanes));
                self.reports.note(launch, Box::new(panic).into());
            }
        }
        let mirror = &self.mirror;
        self.reports
            .look(end, |slot| match within(mirror, slot * reports::BYTES) {
                // SAFETY: a place in the mirror; the copy of this report has ended.
                Some(start) => unsafe { read_words(start) },
                None => [0; REPORT_WORDS],
            });
    }

    /// Sees to it that a later look knows of all that has ended until then: the number of the last piece of work is reached some time.
    pub(crate) fn ask(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        if self.posts.is_open() && self.posts.newest().is_none() {
            return self.post_with_reports(shared);
        }
        self.fetch(shared)
    }

    /// What to wait for until a piece of work has ended and its reports were looked at; `None` if that is so.
    pub(crate) fn await_piece(
        &mut self,
        piece: u64,
        shared: &mut Shared,
    ) -> Result<Option<Arc<Event>>, Refused> {
        self.look(shared)?;
        let piece = piece.min(self.posts.queued.pieces);
        if self.posts.told() >= piece {
            return Ok(None);
        }
        if self.posts.ended().pieces >= piece {
            self.fetch(shared)?;
            return Ok(self.fetch.as_ref().map(|fetch| fetch.event.clone()));
        }
        if self.posts.behind(piece).is_none() {
            self.post_with_reports(shared)?;
        }
        Ok(self.posts.behind(piece).cloned())
    }

    /// What to wait for until all work has ended and its reports were looked at; `None` if that is so.
    pub(crate) fn await_all(&mut self, shared: &mut Shared) -> Result<Option<Arc<Event>>, Refused> {
        self.look(shared)?;
        if self.posts.is_open() {
            self.post_with_reports(shared)?;
        }
        if let Some(event) = self.posts.newest() {
            return Ok(Some(event.clone()));
        }
        self.fetch(shared)?;
        Ok(self.fetch.as_ref().map(|fetch| fetch.event.clone()))
    }

    /// What another stream has to wait for until a piece of work has ended; `None` if that is known.
    pub(crate) fn order_behind(
        &mut self,
        piece: u64,
        shared: &mut Shared,
    ) -> Result<Option<Arc<Event>>, Refused> {
        let piece = piece.min(self.posts.queued.pieces);
        if self.posts.ended().pieces >= piece {
            return Ok(None);
        }
        if self.posts.behind(piece).is_none() {
            self.post(shared)?;
        }
        Ok(self.posts.behind(piece).cloned())
    }

    /// What is queued from here on begins when the event was passed.
    pub(crate) fn wait_for(&mut self, event: &Event) -> Result<(), Refused> {
        self.lane.wait_for(event)?;
        self.count(1, 0);
        Ok(())
    }

    /// Whether work has to wait, which takes `bytes` of pinned memory on the way to the device, when `all` operations of all streams
    /// may be in the driver's queues. These are only counted where the next post is due, which is exact enough.
    pub(crate) fn is_full(&self, bytes: u64, all: impl FnOnce() -> u64) -> bool {
        let own = self.posts.outstanding();
        own >= WINDOW
            || self.reports.is_full()
            || (self.used_bytes > 0 && self.used_bytes + bytes > UNDER_WAY)
            || (own >= SHARE && self.posts.is_due() && all() >= ALL_WINDOWS)
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
        let before = self.called.replace(now);
        if !self.posts.is_open() {
            return Ok(());
        }
        let paused = before.is_some_and(|before| now.duration_since(before) > PAUSE);
        match self.fence {
            Fence::Reports => self.post_with_reports(shared),
            Fence::Post => self.post(shared),
            Fence::None if paused || self.posts.is_due() => self.post(shared),
            Fence::None => Ok(()),
        }
    }

    /// Whether this stream would not see the panics of a launch's module.
    pub(crate) fn lacks_watch(&self, launch: &Ready) -> bool {
        launch.reports_panics && !self.watches.iter().any(|w| w.module == launch.module)
    }

    pub(crate) fn watch(&mut self, watch: Watch) {
        self.watches.push(watch);
    }

    /// Whether there are launches of a module that were not looked at.
    pub(crate) fn is_open_for(&self, module: u64) -> bool {
        let mut watches = self.watches.iter();
        watches.any(|watch| watch.module == module && watch.is_open())
    }

    /// The modules of which there are some.
    pub(crate) fn open_modules(&self) -> impl Iterator<Item = u64> + '_ {
        let open = self.watches.iter().filter(|watch| watch.is_open());
        open.map(|watch| watch.module)
    }

    /// Queues a launch, before which `panicked` lanes of its module are known to have panicked.
    ///
    /// # Safety
    /// As [`driver::launch`], until the launch has ended.
    pub(crate) unsafe fn launch(
        &mut self,
        launch: &mut Ready,
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
        launch.args.words[ARG_REPORT] = report as u32;
        launch.args.words[ARG_REPORT + 1] = (report >> 32) as u32;
        let Ready {
            entry,
            kernel,
            grid_dim,
            block_dim,
            args,
            ..
        } = launch;
        // SAFETY: the caller's promise; the report lies in the ring.
        unsafe { driver::launch(kernel.raw, *grid_dim, *block_dim, self.lane.raw(), args) }
            .map_err(|status| Refused {
                call: "cuLaunchKernel",
                status,
            })?;
        self.posts.queued.launches += 1;
        self.count(1, 1);
        self.reports.push(entry);
        if launch.reports_panics {
            let mut watches = self.watches.iter_mut();
            if let Some(watch) = watches.find(|watch| watch.module == launch.module) {
                watch.push(number, entry, panicked);
            }
        }
        Ok(())
    }

    /// Queues a copy of the first `bytes` bytes of a piece, which it keeps until then.
    ///
    /// # Safety
    /// The range on the device is valid until the copy has ended.
    pub(crate) unsafe fn write(
        &mut self,
        to: u64,
        piece: Piece,
        bytes: usize,
    ) -> Result<(), (Refused, Piece)> {
        // SAFETY: the caller's promise; the piece is kept until the copy has ended, and has so many bytes.
        match unsafe { self.lane.to_device(to, piece.start, bytes.min(piece.bytes)) } {
            Ok(()) => {}
            Err(refused) => return Err((refused, piece)),
        }
        self.transferred(bytes as u64, Fence::Post);
        self.used_bytes += piece.bytes as u64;
        self.used.push_back((self.posts.queued.ops, piece));
        Ok(())
    }

    /// Queues copies to the pieces of a read, one after the other. `Err` tells also how many were queued.
    ///
    /// # Safety
    /// The range on the device is valid until the copies have ended.
    pub(crate) unsafe fn read(
        &mut self,
        mut from: u64,
        parts: &[(Piece, usize)],
    ) -> Result<(), (Refused, usize)> {
        for (queued, (piece, bytes)) in parts.iter().enumerate() {
            // SAFETY: the caller's promise; pieces of reads are kept until they have ended, and have so many bytes.
            let copy = unsafe {
                self.lane
                    .to_host(piece.start, from, (*bytes).min(piece.bytes))
            };
            copy.map_err(|refused| (refused, queued))?;
            from += *bytes as u64;
            self.transferred(*bytes as u64, Fence::None);
        }
        // Somebody will wait for it, and a copy of reports costs little beside it.
        self.fence = Fence::Reports;
        Ok(())
    }

    /// Keeps a read until it is taken.
    pub(crate) fn keep_read(&mut self, number: u64, parts: Vec<(Piece, usize)>) {
        let op = self.posts.queued.ops;
        self.reads.insert(number, Read { op, parts });
    }

    /// Keeps pieces until all that is queued has ended.
    pub(crate) fn keep_used(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        let op = self.posts.queued.ops;
        for piece in pieces {
            self.used_bytes += piece.bytes as u64;
            self.used.push_back((op, piece));
        }
    }

    /// Forgets a read.
    pub(crate) fn forget_read(&mut self, number: u64, shared: &mut Shared) {
        let Some(read) = self.reads.remove(&number) else {
            return;
        };
        for (piece, _) in read.parts {
            if read.op <= self.posts.ended().ops {
                shared.staging.give(piece);
                continue;
            }
            let at = self.used.partition_point(|(op, _)| *op <= read.op);
            self.used_bytes += piece.bytes as u64;
            self.used.insert(at, (read.op, piece));
        }
    }

    /// Queues setting words.
    ///
    /// # Safety
    /// The range is valid until that has ended.
    pub(crate) unsafe fn fill(&mut self, at: u64, words: usize, value: u32) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.lane.fill(at, words, value) }?;
        self.transferred(words as u64 * 4, Fence::Post);
        Ok(())
    }

    /// Queues a copy on the device.
    ///
    /// # Safety
    /// Both ranges are valid until it has ended.
    pub(crate) unsafe fn copy(&mut self, to: u64, from: u64, bytes: usize) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.lane.copy(to, from, bytes) }?;
        self.transferred(bytes as u64, Fence::Post);
        Ok(())
    }

    /// Counts a copy or a fill, with a fence behind it if it is large.
    fn transferred(&mut self, bytes: u64, fence: Fence) {
        let time = bytes / LARGE;
        self.count(1, time);
        if time > 0 && self.fence == Fence::None {
            self.fence = fence;
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

/// Byte `at` of a piece.
fn within(piece: &Piece, at: u64) -> Option<std::ptr::NonNull<u8>> {
    let at = usize::try_from(at).ok().filter(|at| *at < piece.bytes)?;
    std::ptr::NonNull::new(piece.start.as_ptr().wrapping_add(at))
}

/// Reads words that the device wrote.
///
/// # Safety
/// So many words are there, at a multiple of 4.
unsafe fn read_words<const N: usize>(start: std::ptr::NonNull<u8>) -> [u32; N] {
    let start = start.as_ptr().cast::<u32>().cast_const();
    // SAFETY: the caller's promise. Volatile: it is not Rust that writes there.
    std::array::from_fn(|at| unsafe { start.add(at).read_volatile() })
}
