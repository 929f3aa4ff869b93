//! The streams that users open: what `warpheap_api::host::Streams` asks of a GPU.
//!
//! A stream is one of the driver, which has nothing in it but the work itself and now and then a post. What that costs: a wait for a
//! piece of work may wait for some of what follows it, up to the next post, or up to all that is queued at the moment if there is no
//! post behind it. There is one behind each read and each stamp, and where nothing was queued for a moment.

use crate::backend::{CudaBackend, next_id};
use crate::handles::Event;
use crate::ready::Ready;
use crate::state::{State, foreign};
use crate::status::Status;
use crate::stream::{RING_BYTES, StreamState};
use crate::watch;
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::host::{DeviceError, Launch, Mark, StreamId, Streams, Work};

pub(crate) const LAUNCHING: &str = "queueing launches";

impl Streams for CudaBackend {
    fn open(&self) -> Result<StreamId, DeviceError> {
        const DURING: &str = "opening a stream";
        let mut state = self.enter(DURING)?;
        let mut stream = match state.rested(DURING)? {
            Some(stream) => stream,
            None => {
                drop(state);
                let mirror = self.piece(RING_BYTES as usize, DURING)?;
                state = self.enter(DURING)?;
                match StreamState::new(mirror) {
                    Ok(stream) => stream,
                    Err((refused, mirror)) => {
                        state.shared.staging.give(mirror);
                        return Err(match refused.status {
                            Status::OUT_OF_MEMORY => self.out_of_memory(RING_BYTES),
                            _ => state.refuse(refused, DURING),
                        });
                    }
                }
            }
        };
        let opened = stream.open(&mut state.shared);
        if let Err(refused) = opened {
            state.spare.push(stream);
            return Err(state.refuse(refused, DURING));
        }
        let id = next_id();
        state.streams.insert(id, stream);
        Ok(StreamId(id))
    }

    fn close(&self, stream: StreamId) {
        // After a loss it goes with the device.
        let Ok(mut state) = self.enter("closing a stream") else {
            return;
        };
        if let Some(stream) = state.streams.remove(&stream.0) {
            // Panics that nobody asked for are nobody's.
            let unseen = stream.open_modules().map(|module| (module, 0));
            state.shared.panicked.extend(unseen);
            state.spare.push(stream);
        }
    }

    unsafe fn queue(
        &self,
        stream: StreamId,
        after: &[Mark],
        work: Work<'_>,
    ) -> Result<u64, DeviceError> {
        let id = stream.0;
        match work {
            // SAFETY: the caller's promise.
            Work::Launches(launches) => unsafe { self.queue_launches(id, after, launches) },
            Work::Write {
                buffer,
                offset,
                data,
            } => {
                // SAFETY: the caller's promise.
                unsafe { self.queue_write(id, after, (buffer, offset), data) }
            }
            Work::Read {
                buffer,
                offset,
                bytes,
            } => {
                // SAFETY: the caller's promise.
                unsafe { self.queue_read(id, after, (buffer, offset), bytes) }
            }
            Work::Fill {
                buffer,
                offset,
                words,
                value,
            } => {
                const DURING: &str = "filling a buffer";
                let mut state = self.enter_turn(id, 0, DURING)?;
                let at = state.range("fill", buffer, offset, words.saturating_mul(4))?;
                state.begin(id, after, DURING)?;
                let queued = state.with_stream(id, DURING, |stream, _| {
                    if words == 0 {
                        return Ok(stream.nothing());
                    }
                    // SAFETY: the range was checked to lie in the buffer, so its length fits a usize; the buffer stays, as the
                    // caller promises.
                    unsafe { stream.fill(at, words as usize, value) }?;
                    Ok(stream.complete())
                })?;
                queued.ok_or_else(gone)
            }
            Work::Copy { from, to, bytes } => {
                const DURING: &str = "a copy on the device";
                let mut state = self.enter_turn(id, 0, DURING)?;
                let source = state.range("copy", from.0, from.1, bytes)?;
                let target = state.range("copy", to.0, to.1, bytes)?;
                state.begin(id, after, DURING)?;
                let queued = state.with_stream(id, DURING, |stream, _| {
                    if bytes == 0 {
                        return Ok(stream.nothing());
                    }
                    // SAFETY: as for a fill.
                    unsafe { stream.copy(target, source, bytes as usize) }?;
                    Ok(stream.complete())
                })?;
                queued.ok_or_else(gone)
            }
            Work::Stamp => {
                const DURING: &str = "a stamp";
                let mut state = self.enter_turn(id, 0, DURING)?;
                if !after.is_empty() {
                    state.begin(id, after, DURING)?;
                }
                let queued = state.with_stream(id, DURING, StreamState::stamp)?;
                queued.ok_or_else(gone)
            }
        }
    }

    fn reached(&self, stream: StreamId) -> Result<u64, DeviceError> {
        const DURING: &str = "asking how far a stream is";
        let mut state = self.enter(DURING)?;
        let told = state.with_stream(stream.0, DURING, |stream, shared| {
            stream.look(shared)?;
            stream.ask(shared)?;
            Ok(stream.posts.told())
        })?;
        // All marks of a stream that is gone are reached.
        Ok(told.unwrap_or(u64::MAX))
    }

    fn wait(&self, mark: Mark) -> Result<(), DeviceError> {
        const DURING: &str = "waiting for a stream";
        loop {
            let mut state = self.enter(DURING)?;
            let event = state.with_stream(mark.stream.0, DURING, |stream, shared| {
                stream.await_piece(mark.at, shared)
            })?;
            let Some(event) = event.flatten() else {
                return state.bury(DURING);
            };
            drop(state);
            self.until(&event, DURING)?;
        }
    }

    fn failure(&self, stream: StreamId) -> Option<DeviceError> {
        const DURING: &str = "asking for failures";
        let mut state = match self.enter(DURING) {
            Ok(state) => state,
            Err(lost) => return Some(lost),
        };
        let failure = state.with_stream(stream.0, DURING, |stream, shared| {
            stream.look(shared)?;
            Ok(stream.failure())
        });
        failure.map(Option::flatten).unwrap_or_else(Some)
    }

    fn take(&self, read: Mark, into: &mut [u8]) -> Result<(), DeviceError> {
        self.take_read(read, into)
    }

    fn elapsed(&self, from: Mark, to: Mark) -> Result<Duration, DeviceError> {
        const DURING: &str = "asking for a time between stamps";
        let mut state = self.enter(DURING)?;
        let (from, to) = (state.stamp(from)?, state.stamp(to)?);
        let since = to.since(&from);
        since.map_err(|refused| state.refuse(refused, DURING))
    }

    fn forget(&self, mark: Mark) {
        // After a loss nothing is given back.
        let Ok(mut state) = self.enter("forgetting a stamp or a read") else {
            return;
        };
        let State {
            streams, shared, ..
        } = &mut **state;
        if let Some(stream) = streams.get_mut(&mark.stream.0) {
            stream.forget_stamp(mark.at, shared);
            stream.forget_read(mark.at, shared);
        }
    }
}

impl CudaBackend {
    /// Queues launches as one piece of work.
    ///
    /// # Safety
    /// As [`Streams::queue`].
    unsafe fn queue_launches(
        &self,
        id: u64,
        after: &[Mark],
        launches: &[Launch<'_>],
    ) -> Result<u64, DeviceError> {
        self.check_shapes(launches)?;
        match launches {
            // SAFETY: the caller's promise.
            [one] => unsafe { self.queue_launch(id, after, one) },
            // SAFETY: the caller's promise.
            _ => unsafe { self.queue_batch(id, after, launches) },
        }
    }

    /// Queues one launch: the short way.
    ///
    /// # Safety
    /// As [`Streams::queue`].
    unsafe fn queue_launch(
        &self,
        id: u64,
        after: &[Mark],
        launch: &Launch<'_>,
    ) -> Result<u64, DeviceError> {
        loop {
            let mut state = self.enter_turn(id, 0, LAUNCHING)?;
            if state.is_reserved(id, launch) {
                self.pause(state);
                continue;
            }
            let mut ready = state.prepare(launch, 0)?;
            if state.lacks_watch(id, &ready) {
                drop(state);
                self.watch(id, &ready)?;
                continue;
            }
            state.begin(id, after, LAUNCHING)?;
            // SAFETY: kernel and stream are of the current context; that arguments match the kernel's parameters is the promise of
            // `Prepared::new`, their ranges were checked, and their buffers stay until the launch has ended, as the caller promises.
            unsafe { state.launch(id, &mut ready) }?;
            let stream = state.streams.get_mut(&id).ok_or_else(gone)?;
            return Ok(stream.complete());
        }
    }

    /// Queues any number of launches. If the driver refuses one behind others, these have ended when the error is returned.
    ///
    /// # Safety
    /// As [`Streams::queue`].
    pub(crate) unsafe fn queue_batch(
        &self,
        id: u64,
        after: &[Mark],
        launches: &[Launch<'_>],
    ) -> Result<u64, DeviceError> {
        // Declared before the state is entered, so that the state is left before the turn ends.
        let _turn = self.turn(id, LAUNCHING)?;
        let (mut state, mut ready) = loop {
            let mut state = self.enter_room(id, 0, LAUNCHING)?;
            if launches.iter().any(|one| state.is_reserved(id, one)) {
                self.pause(state);
                continue;
            }
            let ready = launches.iter().map(|launch| state.prepare(launch, 0));
            let ready = ready.collect::<Result<Vec<_>, _>>()?;
            let Some(at) = ready.iter().position(|one| state.lacks_watch(id, one)) else {
                break (state, ready);
            };
            drop(state);
            if let Some(one) = ready.get(at) {
                self.watch(id, one)?;
            }
        };
        state.begin(id, after, LAUNCHING)?;
        for (at, (launch, source)) in ready.iter_mut().zip(launches).enumerate() {
            while at > 0 && (state.is_full(id, 0) || state.is_reserved(id, source)) {
                match state.is_reserved(id, source) {
                    true => self.pause(state),
                    false => drop(state),
                }
                state = match self.enter_room(id, 0, LAUNCHING) {
                    Ok(state) => state,
                    Err(error) => return Err(self.broken_off(id, error)),
                };
            }
            // SAFETY: as for one launch.
            if let Err(error) = unsafe { state.launch(id, launch) } {
                drop(state);
                return Err(match at {
                    0 => error,
                    _ => self.broken_off(id, error),
                });
            }
        }
        let stream = state.streams.get_mut(&id).ok_or_else(gone)?;
        Ok(match ready.is_empty() {
            true => stream.nothing(),
            false => stream.complete(),
        })
    }

    /// Lets a stream see the panics of a launch's module.
    fn watch(&self, id: u64, launch: &Ready) -> Result<(), DeviceError> {
        let mirror = self.piece(watch::BYTES, LAUNCHING)?;
        self.enter(LAUNCHING)?.watch(id, launch, mirror)
    }

    /// Ends a piece of work of which a part was queued when an error came up: it has ended when this returns, so that what it used is
    /// the caller's again. Its number is used up, and nobody knows of it.
    pub(crate) fn broken_off(&self, id: u64, error: DeviceError) -> DeviceError {
        // After a loss there is nothing to wait for.
        let Ok(mut state) = self.enter("waiting for a part of a piece of work") else {
            return error;
        };
        let Some(stream) = state.streams.get_mut(&id) else {
            return error;
        };
        let mark = Mark {
            stream: StreamId(id),
            at: stream.complete(),
        };
        drop(state);
        match self.wait(mark) {
            Err(lost @ DeviceError::Lost { .. }) => lost,
            _ => error,
        }
    }
}

impl State {
    /// Whether a piece of work has to wait until another call lets it be queued.
    pub(crate) fn must_wait(&self, id: u64) -> bool {
        let stream = self.streams.get(&id);
        self.settling > 0 || stream.is_some_and(|stream| stream.taken)
    }

    /// Whether a launch has to wait until a call has run others of its module.
    fn is_reserved(&self, id: u64, launch: &Launch<'_>) -> bool {
        // The call's own stream is the only one that keeps reports.
        self.reserved.contains(&launch.module.0)
            && self.streams.get(&id).is_some_and(|s| !s.reports_each())
    }

    /// A stream that was closed and is at rest.
    fn rested(&mut self, during: &str) -> Result<Option<StreamState>, DeviceError> {
        for at in 0..self.spare.len() {
            let Some(stream) = self.spare.get_mut(at) else {
                break;
            };
            let looked = stream.look(&mut self.shared);
            let looked = looked.and_then(|()| stream.ask(&mut self.shared));
            let rests = stream.is_at_rest();
            looked.map_err(|refused| self.refuse(refused, during))?;
            if rests {
                return Ok(Some(self.spare.swap_remove(at)));
            }
        }
        Ok(None)
    }

    fn stamp(&self, mark: Mark) -> Result<Arc<Event>, DeviceError> {
        let stream = self.streams.get(&mark.stream.0);
        let stamp = stream.and_then(|stream| stream.stamp_at(mark.at));
        stamp.cloned().ok_or_else(|| DeviceError::Driver {
            device: self.session.name.clone(),
            call: "Streams::elapsed",
            what: format!("piece of work {} is no stamp, or was forgotten", mark.at),
        })
    }
}

/// The error for a stream that is not there.
pub(crate) fn gone() -> DeviceError {
    foreign("work", "its stream")
}
