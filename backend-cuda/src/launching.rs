//! Launches are queued in a stream.
//!
//! One launch at a time is what programs do most, and a GPU takes one every few microseconds. So that way is short: the state is
//! entered once, and the stream, the kernel and each buffer are found in a step.

use crate::backend::CudaBackend;
use crate::nvtx::{self, Category};
use crate::ready::Ready;
use crate::state::State;
use crate::streams::gone;
use crate::watch;
use warpheap_api::abi::{ARG_WORDS, ArgBlock};
use warpheap_api::host::{DeviceError, Launch, Mark, StreamId, Streams};

const NO_ARGS: ArgBlock = ArgBlock {
    words: [0; ARG_WORDS],
};

pub(crate) const LAUNCHING: &str = "queueing launches";

impl CudaBackend {
    /// Queues launches as one piece of work.
    ///
    /// # Safety
    /// As [`Streams::queue`].
    pub(crate) unsafe fn queue_launches(
        &self,
        id: u64,
        after: &[Mark],
        launches: &[Launch<'_>],
    ) -> Result<u64, DeviceError> {
        self.check_shapes(launches)?;
        let _range = nvtx::range(launches, Category::Queues);
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
            let mut args = NO_ARGS;
            let ready = state.prepare(launch, &mut args)?;
            if state.lacks_watch(id, &ready) {
                drop(state);
                self.watch(id, &ready)?;
                continue;
            }
            if !after.is_empty() {
                state.begin(id, after, LAUNCHING)?;
            }
            // SAFETY: kernel and stream are of the current context; that arguments match the kernel's parameters is the promise of
            // `Prepared::new`, their ranges were checked, and their buffers stay until the launch has ended, as the caller promises.
            return unsafe { state.launch_alone(id, &ready, &mut args, after.is_empty()) };
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
            let ready = launches.iter().map(|launch| {
                let mut args = NO_ARGS;
                Ok((state.prepare(launch, &mut args)?, args))
            });
            let ready = ready.collect::<Result<Vec<_>, DeviceError>>()?;
            let Some(at) = ready.iter().position(|(one, _)| state.lacks_watch(id, one)) else {
                break (state, ready);
            };
            drop(state);
            if let Some((one, _)) = ready.get(at) {
                self.watch(id, one)?;
            }
        };
        state.begin(id, after, LAUNCHING)?;
        for (at, ((launch, args), source)) in ready.iter_mut().zip(launches).enumerate() {
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
            if let Err(error) = unsafe { state.launch(id, launch, args) } {
                drop(state);
                return Err(match at {
                    0 => error,
                    _ => self.broken_off(id, error),
                });
            }
        }
        let stream = state.streams.get_mut(id).ok_or_else(gone)?;
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
        let Some(stream) = state.streams.get_mut(id) else {
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
    /// Whether a launch has to wait until a call has run others of its module.
    fn is_reserved(&self, id: u64, launch: &Launch<'_>) -> bool {
        // The call's own stream is the only one that keeps reports.
        self.reserved.contains(&launch.module.0)
            && self.streams.get(id).is_some_and(|s| !s.reports_each())
    }
}
