//! Calls that end when the device is done: launches with their times and reports, fills, and copies on the device.
//!
//! Each is a piece of work of a stream of the backend's own, which the caller waits for as for any other one, without the state. So
//! other threads go on, and what is true of streams is true of them: a kernel that never ends is noticed, errors name the launches
//! that were under way, and memory is not freed while the device works.
//!
//! Launches run one call after the other, so that the time of a launch is not that of two. The time of the first launch of a call
//! includes the few microseconds until it arrives, because the device is idle then; measure with a launch before it.

use crate::backend::CudaBackend;
use crate::launching::LAUNCHING;
use crate::nvtx::{self, Category};
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpheap_api::host::{DeviceError, Launch, LaunchReport, Mark, StreamId, Streams, Work};

impl CudaBackend {
    /// Runs launches in order and waits for their end; a report for each.
    pub(crate) fn run(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        self.check_shapes(launches)?;
        if launches.is_empty() {
            return self.enter(LAUNCHING).map(|_| Vec::new());
        }
        let mut own = lock(&self.own.launches);
        let id = match *own {
            Some(id) => id,
            None => {
                let id = self.open()?;
                if let Some(stream) = self.enter(LAUNCHING)?.streams.get_mut(id.0) {
                    stream.report_each();
                    stream.name("warpheap launches");
                }
                *own.insert(id)
            }
        };
        let reports = {
            let _range = nvtx::range(launches, Category::Runs);
            self.run_in(id, launches)
        };
        if reports.is_err() {
            // Launches of it may have run whose reports nobody took. When it is used again it has forgotten them.
            *own = None;
            self.close(id);
        }
        reports
    }

    fn run_in(
        &self,
        id: StreamId,
        launches: &[Launch<'_>],
    ) -> Result<Vec<LaunchReport>, DeviceError> {
        let _alone = self.reserve(launches)?;
        // SAFETY: a buffer that is given back is kept until no stream works.
        let at = unsafe { self.queue_batch(id.0, &[], launches) }?;
        self.wait(Mark { stream: id, at })?;
        let mut state = self.enter(LAUNCHING)?;
        let reports = match state.streams.get_mut(id.0) {
            Some(stream) => match stream.failure() {
                Some(panic) => return Err(panic),
                None => stream.take_reports(),
            },
            None => Vec::new(),
        };
        if reports.len() == launches.len() {
            return Ok(reports);
        }
        Err(DeviceError::Driver {
            device: self.info.name.clone(),
            call: LAUNCHING,
            what: format!("{} launches, {} reports", launches.len(), reports.len()),
        })
    }

    /// Does a fill or a copy on the device.
    pub(crate) fn transfer(&self, work: Work<'_>) -> Result<(), DeviceError> {
        let stream = {
            let mut own = lock(&self.own.copies);
            match *own {
                Some(id) => id,
                None => {
                    let id = self.open()?;
                    if let Some(stream) = self.enter(LAUNCHING)?.streams.get_mut(id.0) {
                        stream.name("warpheap copies on the device");
                    }
                    *own.insert(id)
                }
            }
        };
        // SAFETY: as for launches.
        let at = unsafe { self.queue(stream, &[], work) }?;
        self.wait(Mark { stream, at })
    }

    /// Keeps launches of streams away from the reports of panics that these launches may write to, since whose a panic is could not
    /// be told.
    fn reserve(&self, launches: &[Launch<'_>]) -> Result<Option<Alone<'_>>, DeviceError> {
        let mut state = self.enter(LAUNCHING)?;
        if state.shares_panics(launches) {
            drop(state);
            state = self.settle(LAUNCHING)?;
        }
        state.empty_panics(LAUNCHING)?;
        for launch in launches {
            let id = launch.module.0;
            let module = state.modules.get(&id);
            if module.is_some_and(|module| module.reports_panics) && !state.reserved.contains(&id) {
                state.reserved.push(id);
            }
        }
        let any = !state.reserved.is_empty();
        Ok(any.then(|| Alone { backend: self }))
    }
}

/// Modules are reserved. It must be dropped while the state is not held.
struct Alone<'a> {
    backend: &'a CudaBackend,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let mut state = self.backend.lock();
        state.reserved.clear();
        self.backend.wake(&state);
    }
}

fn lock<T>(own: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves a stream that was opened, or none.
    own.lock().unwrap_or_else(PoisonError::into_inner)
}
