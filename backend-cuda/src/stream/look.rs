//! How far the device is, and what launches reported.

use super::{Fence, Fetch, Shared, StreamState};
use crate::handles::{Event, Lane};
use crate::reports;
use crate::staging::Piece;
use crate::status::Refused;
use crate::watch;
use std::ptr::NonNull;
use std::sync::Arc;
use warpheap_api::abi::{PANIC_WORDS, REPORT_WORDS};

impl StreamState {
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
            unsafe { lane.to_host(to.as_ptr(), self.ring.address + at, bytes as usize) }?;
            copies += 1;
        }
        for watch in self.watches.iter().filter(|w| w.is_open_before(end)) {
            // SAFETY: the module's report lives as long as the backend, and its mirror as long as the stream; both have so many bytes.
            unsafe { lane.to_host(watch.mirror.start.as_ptr(), watch.report, watch::BYTES) }?;
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
            self.read_clocks(shared)?;
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
}

/// Byte `at` of a piece.
fn within(piece: &Piece, at: u64) -> Option<NonNull<u8>> {
    let at = usize::try_from(at).ok().filter(|at| *at < piece.bytes)?;
    NonNull::new(piece.start.as_ptr().wrapping_add(at))
}

/// Reads words that the device wrote.
///
/// # Safety
/// So many words are there, at a multiple of 4.
unsafe fn read_words<const N: usize>(start: NonNull<u8>) -> [u32; N] {
    // SAFETY: the caller's promise. Volatile: it is not Rust that writes there.
    unsafe { start.cast::<[u32; N]>().read_volatile() }
}
