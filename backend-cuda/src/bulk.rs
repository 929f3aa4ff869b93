//! Large copies from and to the host that are waited for.
//!
//! The driver copies memory that is not pinned with one thread, at 8 GB/s to the device and 14 from it. Here several threads bring it piece by piece to
//! pinned memory and from there, while the device copies other pieces by itself. Other calls go on meanwhile: the state is held to queue a
//! piece, not to wait for one.

use crate::backend::CudaBackend;
use crate::handles::{Event, Lane};
use crate::staging::Piece;
use crate::status::Refused;
use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Builder;
use warpheap_api::host::{BufferId, DeviceError};

/// The smallest copy that goes this way: for less, threads take longer to begin than the driver takes to copy.
const LEAST: usize = 4 << 20;
/// Bytes for which the driver takes as long as to pin the pieces.
const PINNING: u64 = 32 << 20;
/// Bytes of a piece.
const PIECE: usize = 1 << 20;
/// Pieces of a copy.
const PIECES: usize = 16;
/// Most threads: more do not make the host's memory faster.
const MOST_THREADS: usize = 8;

const WRITING: &str = "a copy to the device";
const READING: &str = "a copy from the device";

/// Bytes that a thread copies, and the number of the piece that they go to or come from.
struct Job<'a> {
    to: &'a mut [u8],
    from: &'a [u8],
    piece: usize,
}

/// What a copy works with.
struct Pieces {
    pinned: Vec<Piece>,
    /// Behind what the device does with each piece.
    events: Vec<Arc<Event>>,
}

/// Which copies go this way.
#[derive(Default)]
pub(crate) struct Share {
    /// Bytes of those that are large enough for it.
    bytes: AtomicU64,
}

impl Share {
    /// Whether a copy of so many bytes does. A single one is not worth that the pieces are pinned for it, unless it is very large: so
    /// the driver copies until it has taken as long as that.
    pub(crate) fn takes(&self, bytes: usize) -> bool {
        if bytes < LEAST {
            return false;
        }
        let bytes = bytes as u64;
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        before.saturating_add(bytes) >= PINNING
    }
}

impl CudaBackend {
    /// Writes `data`.
    pub(crate) fn write_bulk(
        &self,
        (buffer, offset): (BufferId, u64),
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let bytes = data.len() as u64;
        let start = self.enter(WRITING)?.range("write", buffer, offset, bytes)?;
        self.with_pieces(WRITING, |pieces| {
            with_threads(data.len().div_ceil(PIECE), |jobs, done| {
                let mut parts = data.chunks(PIECE).zip((start..).step_by(PIECE));
                let mut free: Vec<usize> = (0..pieces.pinned.len()).collect();
                // Where each piece goes, those that threads fill, and those that the device copies.
                let mut places = vec![(0, 0); free.len()];
                let mut filling = 0;
                let mut under_way = VecDeque::new();
                loop {
                    while let Some(&piece) = free.last()
                        && let Some((from, to)) = parts.next()
                    {
                        free.pop();
                        places[piece] = (to, from.len());
                        // SAFETY: the piece is free.
                        let to = unsafe { pieces.bytes(piece, from.len()) };
                        filling += u32::from(jobs.send(Job { to, from, piece }));
                    }
                    let filled = match under_way.is_empty() {
                        true if filling == 0 => return Ok(()),
                        true => done.recv().ok(),
                        false => done.try_recv().ok(),
                    };
                    if let Some(piece) = filled {
                        filling -= 1;
                        let (to, bytes) = places[piece];
                        let from = pieces.pinned[piece].start.as_ptr();
                        // SAFETY: the range was checked to lie in the buffer, which the caller keeps, and nobody touches the piece
                        // before the device has passed the event.
                        self.queue(WRITING, &pieces.events[piece], |stream| unsafe {
                            stream.to_device(to, from, bytes)
                        })?;
                        under_way.push_back(piece);
                    } else if let Some(piece) = under_way.pop_front() {
                        self.pass(&pieces.events[piece], WRITING)?;
                        free.push(piece);
                    }
                }
            })
        })
    }

    /// Reads as much as `data` has room for.
    pub(crate) fn read_bulk(
        &self,
        (buffer, offset): (BufferId, u64),
        data: &mut [u8],
    ) -> Result<(), DeviceError> {
        let bytes = data.len() as u64;
        let start = self.enter(READING)?.range("read", buffer, offset, bytes)?;
        self.with_pieces(READING, |pieces| {
            with_threads(data.len().div_ceil(PIECE), |jobs, done| {
                let mut parts = data.chunks_mut(PIECE).zip((start..).step_by(PIECE));
                let mut free: Vec<usize> = (0..pieces.pinned.len()).collect();
                // Those that threads empty, and those that the device copies, with where they go.
                let mut emptying = 0;
                let mut under_way = VecDeque::new();
                loop {
                    while let Some(&piece) = free.last()
                        && let Some((part, from)) = parts.next()
                    {
                        free.pop();
                        let to = pieces.pinned[piece].start.as_ptr();
                        // SAFETY: as in a write.
                        self.queue(READING, &pieces.events[piece], |stream| unsafe {
                            stream.to_host(to, from, part.len())
                        })?;
                        under_way.push_back((piece, part));
                    }
                    let emptied = match under_way.is_empty() {
                        true if emptying == 0 => return Ok(()),
                        true => done.recv().ok(),
                        false => done.try_recv().ok(),
                    };
                    if let Some(piece) = emptied {
                        emptying -= 1;
                        free.push(piece);
                    } else if let Some((piece, to)) = under_way.pop_front() {
                        self.pass(&pieces.events[piece], READING)?;
                        // SAFETY: the device is done with the piece.
                        let from = unsafe { pieces.bytes(piece, to.len()) };
                        emptying += u32::from(jobs.send(Job { to, from, piece }));
                    }
                }
            })
        })
    }

    /// Does something with pieces of pinned memory and an event for each, and waits for what it queued.
    fn with_pieces(
        &self,
        during: &'static str,
        copy: impl FnOnce(&Pieces) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let mut pinned = Vec::new();
        while pinned.len() < PIECES {
            match self.piece(PIECE, during) {
                Ok(piece) => pinned.push(piece),
                Err(error) => {
                    self.give_back(pinned);
                    return Err(error);
                }
            }
        }
        let mut state = self.enter(during)?;
        let events = pinned.iter().map(|_| state.shared.events.plain());
        let events = match events.collect::<Result<Vec<_>, _>>() {
            Ok(events) => events,
            Err(refused) => {
                let staging = &mut state.shared.staging;
                pinned.into_iter().for_each(|piece| staging.give(piece));
                return Err(state.refuse(refused, during));
            }
        };
        drop(state);
        let pieces = Pieces { pinned, events };
        let copied = copy(&pieces);
        let mut state = self.enter(during)?;
        // Also where something failed: nothing may use the pieces any more. After a loss something may, and they stay.
        state.finish(during)?;
        let Pieces { pinned, events } = pieces;
        let shared = &mut state.shared;
        pinned
            .into_iter()
            .for_each(|piece| shared.staging.give(piece));
        events
            .into_iter()
            .for_each(|event| shared.events.give(event));
        copied
    }

    /// Queues a copy in the session's stream, and behind it an event.
    fn queue(
        &self,
        during: &'static str,
        event: &Event,
        copy: impl FnOnce(&Lane) -> Result<(), Refused>,
    ) -> Result<(), DeviceError> {
        let mut state = self.enter(during)?;
        let stream = &state.session.stream;
        let queued = copy(stream).and_then(|()| stream.record(event));
        queued.map_err(|refused| state.refuse(refused, during))
    }

    /// Waits until the device has passed an event in the session's stream, however long it takes. The context is current on this thread.
    fn pass(&self, event: &Event, during: &'static str) -> Result<(), DeviceError> {
        let passed = event.wait();
        passed.map_err(|refused| self.lock().refuse(refused, during))
    }
}

impl Pieces {
    /// The first bytes of a piece.
    ///
    /// # Safety
    /// Nobody else uses them, neither the device nor a thread, until whoever gets them is done.
    #[allow(clippy::mut_from_ref)]
    unsafe fn bytes<'a>(&self, piece: usize, bytes: usize) -> &'a mut [u8] {
        let Piece { start, bytes: room } = &self.pinned[piece];
        // SAFETY: the caller's promise; the memory is given back after all that use it are done, and any bytes are bytes.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), bytes.min(*room)) }
    }
}

impl Job<'_> {
    /// Copies, and says which piece it was.
    fn done(self, tell: &Sender<usize>) {
        self.to.copy_from_slice(self.from);
        // Nobody listens any more where the copy failed.
        let _ = tell.send(self.piece);
    }
}

/// Who copies.
enum Copiers<'a> {
    Threads(Sender<Job<'a>>),
    /// Whoever has the job, as there is no thread; where it is told that it is done.
    Caller(Sender<usize>),
}

impl<'a> Copiers<'a> {
    /// Gives a job away, or does it; whether it is told when it is done.
    fn send(&self, job: Job<'a>) -> bool {
        match self {
            Copiers::Threads(jobs) => jobs.send(job).is_ok(),
            Copiers::Caller(tell) => {
                job.done(tell);
                true
            }
        }
    }
}

/// Does something beside threads that copy: they take jobs, and say which piece each had when it is done. Ends when they have. There are
/// as many as the system gives, also none, and at most `most`.
fn with_threads<'a, R>(most: usize, work: impl FnOnce(Copiers<'a>, Receiver<usize>) -> R) -> R {
    let (jobs, waiting) = channel::<Job<'a>>();
    let (tell, done) = channel();
    let waiting = Mutex::new(waiting);
    let next = || {
        let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.recv().ok()
    };
    std::thread::scope(|scope| {
        let mut started = 0;
        while started < threads().min(most) {
            let (tell, next) = (tell.clone(), &next);
            let copies = move || {
                while let Some(job) = next() {
                    job.done(&tell);
                }
            };
            match Builder::new().spawn_scoped(scope, copies) {
                Ok(_) => started += 1,
                Err(error) => {
                    tracing::warn!(%error, started, "a thread for a copy could not be started");
                    break;
                }
            }
        }
        let copiers = match started {
            0 => Copiers::Caller(tell),
            // That none tells any more is then known.
            _ => {
                drop(tell);
                Copiers::Threads(jobs)
            }
        };
        work(copiers, done)
    })
}

/// How many threads copy.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        processors.min(MOST_THREADS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_copy_what_they_are_given_and_end() {
        let from: Vec<u8> = (0..100_000u32).map(|i| (i >> 3) as u8).collect();
        let mut to = vec![0; from.len()];
        let told = with_threads(4, |jobs, done| {
            let parts = to.chunks_mut(999).zip(from.chunks(999)).enumerate();
            let mut sent = 0;
            for (piece, (to, from)) in parts {
                assert!(jobs.send(Job { to, from, piece }));
                sent += 1;
            }
            let mut told: Vec<usize> = (0..sent).map(|_| done.recv().unwrap()).collect();
            told.sort_unstable();
            told
        });
        assert_eq!(told, (0..told.len()).collect::<Vec<_>>());
        assert_eq!(told.len(), 101);
        assert!(to == from);
    }

    #[test]
    fn copies_go_this_way_when_the_driver_has_taken_as_long_as_pinning() {
        const MIB: usize = 1 << 20;
        let share = Share::default();
        assert!(!share.takes(31 * MIB));
        assert!(!share.takes(3 * MIB), "a small one");
        assert!(share.takes(4 * MIB) && share.takes(4 * MIB));
        assert!(Share::default().takes(32 * MIB));
        assert!(!share.takes(MIB));
    }

    /// The same in a process to which the system gives no thread: none can have a stack of so many bytes.
    #[cfg(target_os = "linux")]
    #[test]
    fn without_a_thread_to_be_had_the_caller_copies() {
        let test = "bulk::tests::threads_copy_what_they_are_given_and_end";
        let mut program = std::process::Command::new(std::env::current_exe().unwrap());
        // One test at a time runs on the thread that the program began with.
        program.args([test, "--exact", "--test-threads=1"]);
        program.env("RUST_MIN_STACK", (1u64 << 60).to_string());
        let ended = program.output().unwrap();
        let out = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{out}");
        assert!(out.contains("1 passed"), "{out}");
    }
}
