//! A stream: a queue, and what its thread does.

use crate::emulator::{Emulator, enter};
use crate::task::Task;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use warpheap_api::host::DeviceError;

/// What a stream's thread shares with those who queue and those who wait.
#[derive(Default)]
pub(crate) struct Stream {
    state: Mutex<State>,
    /// A piece of work came, or the end.
    came: Condvar,
    /// A piece of work has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    pieces: VecDeque<Piece>,
    /// Number of the last piece that was queued.
    queued: u64,
    /// Number of the last piece that has ended.
    reached: u64,
    /// No more pieces come.
    closed: bool,
    /// What went wrong and was not asked for yet.
    failures: VecDeque<DeviceError>,
}

/// A piece of work.
pub(crate) struct Piece {
    /// Up to which piece other streams have to get first. These were queued before this one, so streams never wait in a circle.
    pub(crate) after: Vec<Point>,
    pub(crate) task: Task,
}

/// A piece of work that is in its stream.
pub(crate) struct Point {
    stream: Arc<Stream>,
    at: u64,
}

impl Point {
    /// The piece with this number, or the last one if it is not in the stream yet; nothing if that has ended.
    pub(crate) fn new(stream: &Arc<Stream>, at: u64) -> Option<Self> {
        let state = stream.state();
        let at = at.min(state.queued);
        (at > state.reached).then(|| Point {
            stream: stream.clone(),
            at,
        })
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&self) {
        let Stream { state, ended, .. } = &*self.stream;
        let waits = |state: &mut State| state.reached < self.at;
        let waited = ended.wait_while(enter(state), waits);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Stream {
    fn state(&self) -> MutexGuard<'_, State> {
        enter(&self.state)
    }

    /// Queues a piece of work: its number, nothing if the stream has been closed.
    pub(crate) fn push(&self, piece: Piece) -> Option<u64> {
        let mut state = self.state();
        if state.closed {
            return None;
        }
        state.pieces.push_back(piece);
        state.queued += 1;
        self.came.notify_one();
        Some(state.queued)
    }

    /// Lets the thread end once all work has ended.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.came.notify_one();
    }

    /// Number of the last piece that has ended.
    pub(crate) fn reached(&self) -> u64 {
        self.state().reached
    }

    /// The first failure, which is then forgotten.
    pub(crate) fn failure(&self) -> Option<DeviceError> {
        self.state().failures.pop_front()
    }

    /// What the thread does: all work, until the stream is closed.
    pub(crate) fn run(&self, emulator: &Emulator) {
        while let Some(Piece { after, task }) = self.next() {
            after.iter().for_each(Point::wait);
            let failed = |error| self.state().failures.push_back(error);
            // SAFETY: promised when the work was queued.
            let run = || unsafe { task.run(emulator, failed) };
            // Those who wait would wait for ever if the thread ended here.
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                failed(emulator.error("stream", "the emulator itself panicked".into()));
            }
            self.state().reached += 1;
            self.ended.notify_all();
        }
    }

    /// The next piece of work, once there is one; nothing if no more come.
    fn next(&self) -> Option<Piece> {
        let waits = |state: &mut State| state.pieces.is_empty() && !state.closed;
        let waited = self.came.wait_while(self.state(), waits);
        waited
            .unwrap_or_else(PoisonError::into_inner)
            .pieces
            .pop_front()
    }
}
