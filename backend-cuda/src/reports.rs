//! The launch reports of a stream: a ring of places that launches write to, and what was found in them.
//!
//! A launch writes to its report only if lanes fail, so places stay zero, and nothing is done for a launch that went well but to copy
//! its place to the host, together with those of many others, and to look at it there. A place that is not zero is zeroed before it is
//! used again, which is when the report of its last launch was looked at.

use std::collections::VecDeque;
use std::ops::Range;
use warpheap_api::abi::{REPORT_ERRORS, REPORT_WORDS};
use warpheap_api::host::{DeviceError, LaunchReport};

/// Places in the ring: launches whose reports were not looked at.
pub(crate) const SLOTS: u64 = 2048;

/// Launches that have ended after which their reports are copied, if nobody asks before.
pub(crate) const MANY: u64 = 256;

/// Bytes of a report.
pub(crate) const BYTES: u64 = REPORT_WORDS as u64 * 4;

/// The place of a launch; they are counted from 0.
pub(crate) fn slot(launch: u64) -> u64 {
    launch % SLOTS
}

/// The places of some launches, at most as many as there are: one range, or two around the end of the ring.
pub(crate) fn slots(launches: Range<u64>) -> [Range<u64>; 2] {
    let count = launches.end.saturating_sub(launches.start).min(SLOTS);
    let first = slot(launches.start);
    let end = (first + count).min(SLOTS);
    [first..end, 0..first + count - end]
}

/// What is known of the reports of a stream.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// Names of the launches whose reports were not looked at.
    names: VecDeque<&'static str>,
    /// Number of those before.
    looked: u64,
    /// Places that are not zero.
    dirty: Vec<u64>,
    /// The first failure that nobody asked for, and which launch's.
    failure: Option<(u64, DeviceError)>,
    /// All reports since they were taken, where they are kept.
    kept: Option<Vec<[u32; REPORT_WORDS]>>,
}

impl Reports {
    /// From here on reports are kept, and failures of lanes that they tell of are not looked for.
    pub(crate) fn keep(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// Takes the reports that were kept.
    pub(crate) fn take_kept(&mut self) -> Vec<[u32; REPORT_WORDS]> {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Notes a launch.
    #[inline]
    pub(crate) fn push(&mut self, name: &'static str) {
        self.names.push_back(name);
    }

    /// How many launches' reports were looked at.
    pub(crate) fn looked(&self) -> u64 {
        self.looked
    }

    /// Whether the next launch would get a place whose report was not looked at.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.names.len() as u64 >= SLOTS
    }

    /// Names of the launches from one on, as far as they were not looked at.
    pub(crate) fn names_from(&self, launch: u64) -> impl Iterator<Item = &'static str> + '_ {
        let skip = launch.saturating_sub(self.looked);
        self.names.iter().skip(skip as usize).copied()
    }

    /// Looks at the reports of the launches before `end`; `read` reads a place on the host.
    pub(crate) fn look(&mut self, end: u64, mut read: impl FnMut(u64) -> [u32; REPORT_WORDS]) {
        while self.looked < end {
            let Some(name) = self.names.pop_front() else {
                return;
            };
            let launch = self.looked;
            self.looked += 1;
            let words = read(slot(launch));
            if let Some(kept) = &mut self.kept {
                kept.push(words);
            }
            if words == [0; REPORT_WORDS] {
                continue;
            }
            self.dirty.push(slot(launch));
            if words[REPORT_ERRORS] == 0 || self.kept.is_some() {
                continue;
            }
            let report = LaunchReport {
                device_time: Default::default(),
                words,
            };
            if let Some(failure) = report.failure(name) {
                self.note(launch, Box::new(failure).into());
            }
        }
    }

    /// Notes a failure of a launch, of which the first one is told.
    pub(crate) fn note(&mut self, launch: u64, failure: DeviceError) {
        if self.failure.as_ref().is_none_or(|(at, _)| launch < *at) {
            self.failure = Some((launch, failure));
        }
    }

    /// The first failure since the last time.
    pub(crate) fn take(&mut self) -> Option<DeviceError> {
        self.failure.take().map(|(_, failure)| failure)
    }

    /// A place that has to be zeroed before the next launch.
    #[inline]
    pub(crate) fn dirty(&self) -> Option<u64> {
        self.dirty.last().copied()
    }

    /// Notes that the place that [`dirty`](Self::dirty) told of is being zeroed.
    pub(crate) fn cleaned(&mut self) {
        self.dirty.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(lanes: u32) -> [u32; REPORT_WORDS] {
        let mut words = [0; REPORT_WORDS];
        words[REPORT_ERRORS] = lanes;
        words
    }

    fn lanes(failure: Option<DeviceError>) -> Option<(String, u32)> {
        match failure? {
            DeviceError::Kernel(failure) => Some((failure.kernel, failure.lanes)),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn places_come_round_again() {
        assert_eq!(slots(0..0), [0..0, 0..0]);
        assert_eq!(slots(3..10), [3..10, 0..0]);
        assert_eq!(slots(SLOTS - 2..SLOTS), [SLOTS - 2..SLOTS, 0..0]);
        assert_eq!(slots(SLOTS - 2..SLOTS + 3), [SLOTS - 2..SLOTS, 0..3]);
        assert_eq!(slots(5..5 + SLOTS), [5..SLOTS, 0..5]);
        assert_eq!(slot(3 * SLOTS + 7), 7);
    }

    #[test]
    fn the_first_failure_is_told_once() {
        let mut reports = Reports::default();
        for name in ["a", "b", "c", "d"] {
            reports.push(name);
        }
        reports.look(3, |at| {
            if at == 0 {
                [0; REPORT_WORDS]
            } else {
                failing(at as u32)
            }
        });
        assert_eq!(reports.looked(), 3);
        assert_eq!(lanes(reports.take()), Some(("b".to_string(), 1)));
        assert_eq!(lanes(reports.take()), None);
        reports.look(4, |_| failing(9));
        assert_eq!(lanes(reports.take()), Some(("d".to_string(), 9)));
    }

    #[test]
    fn no_report_is_looked_at_twice_or_before_its_launch() {
        let mut reports = Reports::default();
        reports.push("a");
        reports.look(5, |_| [0; REPORT_WORDS]);
        assert_eq!(reports.looked(), 1);
        reports.look(1, |_| unreachable!());
    }

    #[test]
    fn reports_that_are_kept_are_all_there_and_no_failures() {
        let mut reports = Reports::default();
        reports.keep();
        for name in ["a", "b", "c"] {
            reports.push(name);
        }
        reports.look(2, |at| failing(at as u32));
        assert!(reports.take().is_none());
        assert_eq!(reports.take_kept(), [failing(0), failing(1)]);
        reports.look(3, |_| failing(9));
        assert_eq!(reports.take_kept(), [failing(9)]);
        assert_eq!(reports.dirty(), Some(2));
        reports.note(2, DeviceError::Emulator("panic".to_string()));
        assert!(reports.take().is_some());
    }

    #[test]
    fn places_are_zeroed_once_they_were_written_to() {
        let mut reports = Reports::default();
        for _ in 0..3 {
            reports.push("a");
        }
        // One that lanes wrote to without failing.
        let mut odd = [0; REPORT_WORDS];
        odd[REPORT_WORDS - 1] = 1;
        reports.look(3, |at| if at == 1 { odd } else { [0; REPORT_WORDS] });
        assert!(reports.take().is_none());
        assert_eq!(reports.dirty(), Some(1));
        reports.cleaned();
        assert_eq!(reports.dirty(), None);
    }

    #[test]
    fn an_earlier_failure_goes_before_a_later_one() {
        let mut reports = Reports::default();
        let lost = |what: &str| DeviceError::Emulator(what.to_string());
        reports.note(7, lost("late"));
        reports.note(3, lost("early"));
        reports.note(5, lost("between"));
        assert!(reports.take().unwrap().to_string().contains("early"));
    }

    #[test]
    fn launches_are_named_from_one_on() {
        let mut reports = Reports::default();
        for name in ["a", "b", "c"] {
            reports.push(name);
        }
        reports.look(1, |_| [0; REPORT_WORDS]);
        assert_eq!(reports.names_from(0).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(reports.names_from(2).collect::<Vec<_>>(), ["c"]);
        assert_eq!(reports.names_from(3).count(), 0);
        assert!(!reports.is_full());
    }
}
