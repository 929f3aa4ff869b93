//! What a call has to know of the streams that work beside it.

use crate::code;
use crate::handles::{Event, unpin};
use crate::ready::{Ready, describe};
use crate::staging::Piece;
use crate::state::{State, foreign};
use crate::status::Refused;
use crate::stream::{Shared, StreamState};
use crate::watch::{self, Watch};
use std::ffi::CString;
use std::sync::Arc;
use warpheap_api::abi::{ArgBlock, PANIC_REPORT, PANIC_WORDS};
use warpheap_api::host::{DeviceError, Mark};

impl State {
    /// The error for a call that the driver refused; notes a loss, for which the launches that may be running are named.
    pub(crate) fn refuse(&mut self, refused: Refused, during: &str) -> DeviceError {
        let during = match refused.status.is_fatal() {
            true => self.suspects(during),
            false => during.to_string(),
        };
        self.session.fail(refused.call, during, refused.status)
    }

    /// What may have caused a fault or a hang: launches of streams; without any what the call did.
    pub(crate) fn suspects(&self, during: &str) -> String {
        suspects(self.streams.values(), during)
    }

    /// Does something with a stream, if it is there.
    pub(crate) fn with_stream<R>(
        &mut self,
        id: u64,
        during: &str,
        call: impl FnOnce(&mut StreamState, &mut Shared) -> Result<R, Refused>,
    ) -> Result<Option<R>, DeviceError> {
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(None);
        };
        match call(stream, &mut self.shared) {
            Ok(result) => {
                self.empty_panics(during)?;
                Ok(Some(result))
            }
            Err(refused) => Err(self.refuse(refused, during)),
        }
    }

    /// Asks the device how far all streams are.
    fn look_at_all(&mut self, during: &str) -> Result<(), DeviceError> {
        let shared = &mut self.shared;
        let look = |stream: &mut StreamState| stream.look(shared);
        let looked = self.streams.values_mut().try_for_each(look);
        looked.map_err(|refused| self.refuse(refused, during))?;
        self.empty_panics(during)
    }

    /// How often streams were seen to have got on, and within how many times what a launch may take they have to be again.
    pub(crate) fn patience(&mut self, during: &str) -> Result<(u64, u64), DeviceError> {
        self.look_at_all(during)?;
        let times: u64 = self.streams.values().map(|s| s.posts.time_to_next()).sum();
        Ok((self.shared.progress, times.max(1)))
    }

    /// How many times what a launch may take all that is queued in streams may take.
    pub(crate) fn backlog(&mut self, during: &str) -> Result<u64, DeviceError> {
        if self.is_idle() {
            return Ok(0);
        }
        self.look_at_all(during)?;
        Ok(self.streams.values().map(|s| s.posts.time()).sum())
    }

    fn is_idle(&self) -> bool {
        // A call that queues in several steps has looked addresses up that it will use.
        let mut streams = self.streams.values();
        streams.all(|stream| stream.posts.is_idle() && !stream.taken)
    }

    /// Waits for everything that was queued on the session's stream, however long it takes. For copies, during which the host's
    /// memory is in use: they are not given up on.
    pub(crate) fn finish(&mut self, during: &str) -> Result<(), DeviceError> {
        let finished = self.session.stream.finish();
        finished.map_err(|refused| self.refuse(refused, during))
    }

    /// Waits for what a call queued on the session's stream that needs none of the host's memory. Kernels of streams, of which one
    /// may hang, may keep the device from it.
    pub(crate) fn finish_beside(&mut self, during: &'static str) -> Result<(), DeviceError> {
        let backlog = self.backlog(during)?;
        if backlog == 0 {
            return self.finish(during);
        }
        let recorded = self.shared.events.plain().and_then(|event| {
            self.session.stream.record(&event)?;
            Ok(event)
        });
        let event = recorded.map_err(|refused| self.refuse(refused, during))?;
        self.finish_event(&event, 1 + backlog, during)?;
        self.shared.events.give(event);
        Ok(())
    }

    fn finish_event(&mut self, event: &Event, times: u64, during: &str) -> Result<(), DeviceError> {
        let passed = || event.passed().map_err(|refused| refused.status);
        let streams = &self.streams;
        self.session
            .wait(passed, times, || suspects(streams.values(), during))
    }

    /// Waits until the work of all streams has ended, when nobody else calls any more.
    pub(crate) fn finish_streams(&mut self) -> Result<(), DeviceError> {
        const DURING: &str = "closing the device";
        // Those that were closed have ended too, but reports may be on their way to where they are kept.
        for mut stream in std::mem::take(&mut self.spare) {
            stream.taken = false;
            self.streams.insert(stream);
        }
        while let Some(event) = self.await_all(DURING)? {
            let times = self.backlog(DURING)?.max(1);
            self.finish_event(&event, times, DURING)?;
        }
        Ok(())
    }

    /// What to wait for until no stream works; `None` if that is so.
    pub(crate) fn await_all(&mut self, during: &str) -> Result<Option<Arc<Event>>, DeviceError> {
        let ids: Vec<u64> = self.streams.numbers().collect();
        for id in ids {
            let event = self.with_stream(id, during, StreamState::await_all)?;
            if let Some(event) = event.flatten() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// What to wait for until there is room in a stream for work, which takes `bytes` of pinned memory on the way to the device;
    /// `None` if there is room.
    pub(crate) fn await_room(
        &mut self,
        id: u64,
        bytes: u64,
        during: &str,
    ) -> Result<Option<Arc<Event>>, DeviceError> {
        if !self.is_full(id, bytes) {
            return Ok(None);
        }
        self.look_at_all(during)?;
        if !self.is_full(id, bytes) {
            return Ok(None);
        }
        let event = self.with_stream(id, during, StreamState::await_room)?;
        Ok(event.flatten())
    }

    /// Whether there is no room in a stream for work.
    pub(crate) fn is_full(&self, id: u64, bytes: u64) -> bool {
        let all = || self.streams.values().map(|s| s.posts.outstanding()).sum();
        let stream = self.streams.get(id);
        stream.is_some_and(|stream| stream.is_full(bytes, all))
    }

    /// Whether a piece of work can be queued in a stream at once.
    #[inline]
    pub(crate) fn is_free(&self, id: u64, bytes: u64) -> bool {
        let all = || self.streams.values().map(|s| s.posts.outstanding()).sum();
        let stream = self.streams.get(id);
        self.settling == 0 && stream.is_some_and(|s| !s.taken && !s.is_full(bytes, all))
    }

    /// Begins a piece of work of a stream, behind marks of others.
    pub(crate) fn begin(
        &mut self,
        id: u64,
        after: &[Mark],
        during: &str,
    ) -> Result<(), DeviceError> {
        self.with_stream(id, during, StreamState::begin)?;
        for mark in after.iter().filter(|mark| mark.stream.0 != id) {
            let event = self.with_stream(mark.stream.0, during, |stream, shared| {
                stream.order_behind(mark.at, shared)
            })?;
            if let Some(event) = event.flatten() {
                self.with_stream(id, during, |stream, _| stream.wait_for(&event))?;
            }
        }
        Ok(())
    }

    /// Queues a launch.
    ///
    /// # Safety
    /// As [`driver::launch`](crate::driver::launch), until the launch has ended.
    pub(crate) unsafe fn launch(
        &mut self,
        id: u64,
        launch: &Ready,
        args: &mut ArgBlock,
    ) -> Result<(), DeviceError> {
        let panicked = self.panicked(launch);
        let Some(stream) = self.streams.get_mut(id) else {
            return Err(foreign(launch.entry, "its stream"));
        };
        // SAFETY: the caller's promise.
        let launched = unsafe { stream.launch(launch, args, panicked, &mut self.shared) };
        launched.map_err(|refused| self.refuse(refused, &launch.to_string()))
    }

    /// Queues a launch that is a piece of work, which it begins unless that was done; its number.
    ///
    /// # Safety
    /// As [`launch`](Self::launch).
    pub(crate) unsafe fn launch_alone(
        &mut self,
        id: u64,
        launch: &Ready,
        args: &mut ArgBlock,
        begin: bool,
    ) -> Result<u64, DeviceError> {
        let panicked = self.panicked(launch);
        let Some(stream) = self.streams.get_mut(id) else {
            return Err(foreign(launch.entry, "its stream"));
        };
        let begun = match begin {
            true => stream.begin(&mut self.shared),
            false => Ok(()),
        };
        // SAFETY: the caller's promise.
        let launched =
            begun.and_then(|()| unsafe { stream.launch(launch, args, panicked, &mut self.shared) });
        match launched {
            Ok(()) => Ok(stream.complete()),
            Err(refused) => Err(self.refuse(refused, &launch.to_string())),
        }
    }

    /// How many lanes of a launch's module are known to have panicked before it.
    fn panicked(&self, launch: &Ready) -> u32 {
        match launch.reports_panics {
            true => self.modules.get(&launch.module).map_or(0, |m| m.panicked),
            false => 0,
        }
    }

    /// Whether a stream would not see the panics of a launch's module.
    pub(crate) fn lacks_watch(&self, id: u64, launch: &Ready) -> bool {
        launch.reports_panics
            && self
                .streams
                .get(id)
                .is_some_and(|stream| stream.lacks_watch(launch))
    }

    /// Lets a stream see the panics of a launch's module, whose report is copied to `mirror`.
    pub(crate) fn watch(
        &mut self,
        id: u64,
        launch: &Ready,
        mirror: Piece,
    ) -> Result<(), DeviceError> {
        let (stream, module) = (
            self.streams.get_mut(id),
            self.modules.get_mut(&launch.module),
        );
        let (Some(stream), Some(module)) = (stream, module) else {
            self.shared.staging.give(mirror);
            return Err(foreign(launch.entry, "its stream"));
        };
        if !stream.lacks_watch(launch) {
            // Another thread was faster.
            self.shared.staging.give(mirror);
            return Ok(());
        }
        let report = match module.panic_report {
            Some(report) => Ok(report),
            None => {
                let name = CString::new(PANIC_REPORT).unwrap_or_default();
                // SAFETY: the kernel is of a module of this context.
                unsafe { code::variable_beside(launch.kernel, &name, watch::BYTES) }
            }
        };
        match report {
            Ok(report) => {
                module.panic_report = Some(report);
                stream.watch(Watch::new(launch.module, report, mirror));
                Ok(())
            }
            Err(refused) => {
                self.shared.staging.give(mirror);
                Err(self.refuse(refused, "looking for the report of panics"))
            }
        }
    }

    /// Empties the reports of panics that were looked at, of modules of which no stream has launches that were not.
    pub(crate) fn empty_panics(&mut self, during: &str) -> Result<(), DeviceError> {
        const EMPTYING: &str = "emptying a report of panics";
        if self.shared.panicked.is_empty() {
            return Ok(());
        }
        for (id, lanes) in std::mem::take(&mut self.shared.panicked) {
            let Some(module) = self.modules.get_mut(&id) else {
                continue;
            };
            module.panicked = module.panicked.max(lanes);
            let Some(report) = module.panic_report else {
                continue;
            };
            if self.streams.values().any(|stream| stream.is_open_for(id)) {
                if !self.shared.panicked.iter().any(|(other, _)| *other == id) {
                    self.shared.panicked.push((id, lanes));
                }
                continue;
            }
            module.panicked = 0;
            // SAFETY: the report has so many words; no launch that may write there runs: all of streams have ended and were looked
            // at, and other calls wait for theirs.
            let filled = unsafe { self.session.stream.fill(report, PANIC_WORDS, 0) };
            filled.map_err(|refused| self.refuse(refused, during))?;
            self.finish_beside(EMPTYING)?;
        }
        Ok(())
    }

    /// Frees memory that nothing uses, if no stream works. Else it is left for later: the driver waits for all streams when memory is
    /// freed, and where a kernel hangs for good.
    pub(crate) fn bury(&mut self, during: &'static str) -> Result<(), DeviceError> {
        if self.retired.is_empty() && !self.shared.staging.has_surplus() {
            return Ok(());
        }
        self.look_at_all(during)?;
        if !self.is_idle() {
            let shared = &mut self.shared;
            let ask = |stream: &mut StreamState| stream.ask(shared);
            let asked = self.streams.values_mut().try_for_each(ask);
            return asked.map_err(|refused| self.refuse(refused, during));
        }
        while let Some(allocation) = self.retired.pop() {
            // SAFETY: nothing uses it, which is why it was retired, and it is taken out, so it is freed once.
            let freed = unsafe { allocation.free() };
            freed.map_err(|status| self.session.fail("cuMemFree", during, status))?;
        }
        while let Some(start) = self.shared.staging.surplus() {
            // SAFETY: as above.
            let freed = unsafe { unpin(start) };
            freed.map_err(|refused| self.refuse(refused, during))?;
        }
        Ok(())
    }
}

/// Names launches that may be running, or else what the call did.
fn suspects<'a>(streams: impl Iterator<Item = &'a StreamState>, during: &str) -> String {
    let names: Vec<&str> = streams.flat_map(StreamState::running).collect();
    match names.is_empty() {
        true => during.to_string(),
        false => describe(&names),
    }
}
