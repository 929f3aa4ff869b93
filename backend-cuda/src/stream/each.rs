//! Launches whose caller wants to know of each one: how long it took, and its whole report.

use super::{Shared, StreamState};
use crate::handles::Event;
use crate::status::Refused;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::host::LaunchReport;

/// Times of launches.
#[derive(Default)]
pub(crate) struct Times {
    /// Of launches that were not seen to end: the number, and the events in front of it and behind it.
    open: VecDeque<(u64, [Arc<Event>; 2])>,
    ended: Vec<Duration>,
}

impl StreamState {
    /// From here on each launch is timed, its report is kept, and of failures only panics are told.
    pub(crate) fn report_each(&mut self) {
        self.times = Some(Times::default());
        self.reports.keep();
    }

    /// Whether that is so.
    pub(crate) fn reports_each(&self) -> bool {
        self.times.is_some()
    }

    /// Puts the event in front of a launch, where launches are timed.
    pub(crate) fn start_clock(
        &mut self,
        shared: &mut Shared,
    ) -> Result<Option<Arc<Event>>, Refused> {
        if self.times.is_none() {
            return Ok(None);
        }
        let event = shared.events.timed()?;
        self.lane.record(&event)?;
        self.count(1, 0);
        Ok(Some(event))
    }

    /// Puts the event behind a launch, which is a post too.
    pub(crate) fn stop_clock(
        &mut self,
        launch: u64,
        before: Arc<Event>,
        shared: &mut Shared,
    ) -> Result<(), Refused> {
        let after = shared.events.timed()?;
        self.lane.record(&after)?;
        self.posts.put(after.clone());
        if let Some(times) = &mut self.times {
            times.open.push_back((launch, [before, after]));
        }
        Ok(())
    }

    /// Notes the times of the launches that have ended.
    pub(crate) fn read_clocks(&mut self, shared: &mut Shared) -> Result<(), Refused> {
        let Some(times) = &mut self.times else {
            return Ok(());
        };
        let ended = self.posts.ended().launches;
        while let Some((_, events)) = times.open.pop_front_if(|(launch, _)| *launch < ended) {
            let [before, after] = events;
            times.ended.push(after.since(&before)?);
            shared.events.give(before);
            shared.events.give(after);
        }
        Ok(())
    }

    /// The reports of all launches since the last time, which have ended and were looked at.
    pub(crate) fn take_reports(&mut self) -> Vec<LaunchReport> {
        let times = self.times.as_mut().map(|times| &mut times.ended);
        let times = times.map(std::mem::take).unwrap_or_default();
        let words = self.reports.take_kept().into_iter();
        let both = words.zip(times);
        both.map(|(words, device_time)| LaunchReport { device_time, words })
            .collect()
    }
}
