//! Waiting for streams, without keeping other calls from going on.
//!
//! A wait gives up when nothing in any stream was seen to end for as long as launches may take that the device may be busy with before
//! something has to be seen: those in front of the first post of each stream, one after the other. That is one launch where streams
//! were waited for or had pauses, and [`EVERY`](crate::posts::EVERY) for each stream where launches follow each other at once.

use crate::backend::{CudaBackend, Entered};
use crate::handles::Event;
use crate::session::{Stop, poll};
use crate::state::foreign;
use crate::status::Refused;
use std::sync::PoisonError;
use std::time::Instant;
use warpheap_api::host::DeviceError;

/// The right to queue a piece of work in several steps, between which other calls go on, but queue nothing in the same stream. It must
/// be dropped while the state is not held.
pub(crate) struct Turn<'a> {
    backend: &'a CudaBackend,
    stream: u64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.backend.lock();
        if let Some(stream) = state.streams.get_mut(self.stream) {
            stream.taken = false;
        }
        self.backend.wake(&state);
    }
}

impl CudaBackend {
    /// Waits until the device has passed an event.
    pub(crate) fn until(&self, event: &Event, during: &'static str) -> Result<(), DeviceError> {
        let passed = || event.passed().map_err(|refused| refused.status);
        let mut seen = self.enter(during)?.shared.progress;
        let (mut since, mut wait) = (Instant::now(), self.timeout);
        loop {
            let Err(stop) = poll(wait, passed) else {
                return Ok(());
            };
            // If another call has noticed a loss, this is the end.
            let mut state = self.enter(during)?;
            if let Stop::Failed(status) = stop {
                let call = "cuEventQuery";
                return Err(state.refuse(Refused { call, status }, during));
            }
            let (progress, times) = state.patience(during)?;
            if progress != seen {
                (seen, since, wait) = (progress, Instant::now(), self.timeout);
                continue;
            }
            let (most, waited) = (state.session.patience(times), since.elapsed());
            if waited >= most {
                let suspects = state.suspects(during);
                return Err(state.session.give_up(suspects, times));
            }
            wait = self.timeout.min(most - waited);
        }
    }

    /// Enters when a stream has room for a piece of work, or the next step of one, which takes `bytes` of pinned memory on the way to
    /// the device.
    pub(crate) fn enter_room(
        &self,
        stream: u64,
        bytes: u64,
        during: &'static str,
    ) -> Result<Entered<'_>, DeviceError> {
        loop {
            let mut state = self.enter(during)?;
            if state.streams.get(stream).is_none() {
                return Err(foreign("work", "its stream"));
            }
            let Some(event) = state.await_room(stream, bytes, during)? else {
                return Ok(state);
            };
            drop(state);
            self.until(&event, during)?;
        }
    }

    /// The same for a piece of work that is queued at once, when no other one is being queued.
    pub(crate) fn enter_turn(
        &self,
        stream: u64,
        bytes: u64,
        during: &'static str,
    ) -> Result<Entered<'_>, DeviceError> {
        let state = self.enter(during)?;
        if state.is_free(stream, bytes) {
            return Ok(state);
        }
        drop(state);
        let mut state = self.enter_room(stream, bytes, during)?;
        while state.must_wait(stream) {
            self.pause(state);
            state = self.enter_room(stream, bytes, during)?;
        }
        Ok(state)
    }

    /// Leaves the state and waits until work may be queued again.
    pub(crate) fn pause(&self, mut state: Entered<'_>) {
        state.paused += 1;
        let waited = self.turns.wait(state);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.paused -= 1;
    }

    /// Wakes those who wait for that.
    pub(crate) fn wake(&self, state: &Entered<'_>) {
        // Waking nobody would cost a call of the system all the same.
        if state.paused > 0 {
            self.turns.notify_all();
        }
    }

    /// The right to queue a piece of work in several steps.
    pub(crate) fn turn(&self, stream: u64, during: &'static str) -> Result<Turn<'_>, DeviceError> {
        let mut state = self.enter_turn(stream, 0, during)?;
        if let Some(stream) = state.streams.get_mut(stream) {
            stream.taken = true;
        }
        Ok(Turn {
            backend: self,
            stream,
        })
    }

    /// Enters when all that was queued in streams has ended. Until then nothing more is queued, or that might never be.
    pub(crate) fn settle(&self, during: &'static str) -> Result<Entered<'_>, DeviceError> {
        self.enter(during)?.settling += 1;
        let settled = self.enter_when_settled(during);
        // After an error nobody has the state.
        let (mut state, error) = match settled {
            Ok(state) => (state, None),
            Err(error) => (self.lock(), Some(error)),
        };
        state.settling -= 1;
        self.wake(&state);
        match error {
            None => Ok(state),
            Some(error) => Err(error),
        }
    }

    fn enter_when_settled(&self, during: &'static str) -> Result<Entered<'_>, DeviceError> {
        loop {
            let mut state = self.enter(during)?;
            let Some(event) = state.await_all(during)? else {
                return Ok(state);
            };
            drop(state);
            self.until(&event, during)?;
        }
    }
}
