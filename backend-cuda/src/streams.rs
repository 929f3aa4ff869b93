//! The streams that users open: what `warpheap_api::host::Streams` asks of a GPU.
//!
//! A stream is one of the driver, which has nothing in it but the work itself and now and then a post. What that costs: a wait for a
//! piece of work may wait for some of what follows it, up to the next post, or up to all that is queued at the moment if there is no
//! post behind it. There is one behind each read and each stamp, and where nothing was queued for a moment.

use crate::backend::CudaBackend;
use crate::handles::Event;
use crate::state::{State, foreign};
use crate::status::Status;
use crate::stream::{RING_BYTES, StreamState};
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::host::{DeviceError, Mark, StreamId, Streams, Work};

impl Streams for CudaBackend {
    fn open(&self) -> Result<StreamId, DeviceError> {
        self.open_stream(false)
    }

    fn open_urgent(&self) -> Result<StreamId, DeviceError> {
        self.open_stream(true)
    }

    fn close(&self, stream: StreamId) {
        // After a loss it goes with the device.
        let Ok(mut state) = self.enter("closing a stream") else {
            return;
        };
        if let Some(stream) = state.streams.remove(stream.0) {
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
        if let Some(stream) = streams.get_mut(mark.stream.0) {
            stream.forget_stamp(mark.at, shared);
            stream.forget_read(mark.at, shared);
        }
    }
}

impl CudaBackend {
    fn open_stream(&self, urgent: bool) -> Result<StreamId, DeviceError> {
        const DURING: &str = "opening a stream";
        let mut state = self.enter(DURING)?;
        let mut stream = match state.rested(urgent, DURING)? {
            Some(stream) => stream,
            None => {
                drop(state);
                let mirror = self.piece(RING_BYTES as usize, DURING)?;
                state = self.enter(DURING)?;
                match StreamState::new(urgent, mirror) {
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
        Ok(StreamId(state.streams.insert(stream)))
    }
}

impl State {
    /// Whether a piece of work has to wait until another call lets it be queued.
    pub(crate) fn must_wait(&self, id: u64) -> bool {
        let stream = self.streams.get(id);
        self.settling > 0 || stream.is_some_and(|stream| stream.taken)
    }

    /// A stream of this kind that was closed and is at rest.
    fn rested(&mut self, urgent: bool, during: &str) -> Result<Option<StreamState>, DeviceError> {
        for at in 0..self.spare.len() {
            let Some(stream) = self.spare.get_mut(at) else {
                break;
            };
            let looked = stream.look(&mut self.shared);
            let looked = looked.and_then(|()| stream.ask(&mut self.shared));
            let rests = stream.is_at_rest() && stream.urgent == urgent;
            looked.map_err(|refused| self.refuse(refused, during))?;
            if rests {
                return Ok(Some(self.spare.swap_remove(at)));
            }
        }
        Ok(None)
    }

    fn stamp(&self, mark: Mark) -> Result<Arc<Event>, DeviceError> {
        let stream = self.streams.get(mark.stream.0);
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
