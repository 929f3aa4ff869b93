//! Panics of launches in streams.
//!
//! A module has one report of panics for all its launches. A stream copies it to the host behind launches of the module and compares
//! how many lanes have panicked with how many had before. Streams that run kernels of one module at the same time cannot be told
//! apart: a panic is told to each of them, and its text may be cut if the lane was still writing it. The report is emptied when no
//! stream has launches of the module that it did not look at.

use crate::staging::Piece;
use warpheap_api::abi::{PANIC_LANES, PANIC_WORDS};
use warpheap_api::host::KernelPanic;

/// Bytes of a report.
pub(crate) const BYTES: usize = PANIC_WORDS * 4;

/// What a stream knows of the panics of a module.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) module: u64,
    /// Where the module's report is on the device.
    pub(crate) report: u64,
    /// Where it is copied to.
    pub(crate) mirror: Piece,
    /// Kernels that were launched and not looked at, each once.
    names: Vec<&'static str>,
    /// The first of these launches, and the one behind the last.
    first: u64,
    end: u64,
    /// Lanes that are known to have panicked before.
    before: u32,
}

impl Watch {
    pub(crate) fn new(module: u64, report: u64, mirror: Piece) -> Self {
        Watch {
            module,
            report,
            mirror,
            names: Vec::new(),
            first: 0,
            end: 0,
            before: 0,
        }
    }

    /// Notes a launch, before which `panicked` lanes are known to have panicked.
    pub(crate) fn push(&mut self, launch: u64, name: &'static str, panicked: u32) {
        if self.names.is_empty() {
            self.first = launch;
            self.before = panicked;
        }
        self.end = launch + 1;
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Whether there are launches that were not looked at.
    pub(crate) fn is_open(&self) -> bool {
        !self.names.is_empty()
    }

    /// Whether there are some before launch `end`.
    pub(crate) fn is_open_before(&self, end: u64) -> bool {
        self.is_open() && self.first < end
    }

    /// Looks for the launches before `end` at what was copied behind them: a panic since the last time, and the launch that it may
    /// be of, the first one of several.
    pub(crate) fn look(
        &mut self,
        end: u64,
        words: &[u32; PANIC_WORDS],
    ) -> Option<(u64, KernelPanic)> {
        if !self.is_open_before(end) {
            return None;
        }
        let lanes = words[PANIC_LANES];
        let panic = match lanes > self.before {
            true => KernelPanic::from_words(&self.names.join(" or "), words),
            false => None,
        };
        let found = panic.map(|panic| (self.first, panic));
        self.before = lanes;
        match self.end <= end {
            true => self.names.clear(),
            false => self.first = end,
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::NonNull;

    fn watch() -> Watch {
        let mirror = Piece {
            start: NonNull::dangling(),
            bytes: BYTES,
        };
        Watch::new(1, 0, mirror)
    }

    fn panics(lanes: u32) -> [u32; PANIC_WORDS] {
        let mut words = [0; PANIC_WORDS];
        words[PANIC_LANES] = lanes;
        words
    }

    #[test]
    fn a_panic_is_told_once() {
        let mut watch = watch();
        watch.push(4, "a", 0);
        watch.push(5, "b", 0);
        watch.push(6, "a", 0);
        assert!(watch.is_open() && !watch.is_open_before(4));
        assert!(watch.is_open_before(5));
        let (first, panic) = watch.look(7, &panics(2)).unwrap();
        assert_eq!((first, panic.lanes, &*panic.kernel), (4, 2, "a or b"));
        assert!(!watch.is_open());
        assert!(watch.look(7, &panics(2)).is_none());
    }

    #[test]
    fn panics_from_before_are_not_told_again() {
        let mut watch = watch();
        // The report could not be emptied, since another stream is not done.
        watch.push(9, "a", 2);
        assert!(watch.look(10, &panics(2)).is_none());
        watch.push(10, "b", 2);
        let (first, panic) = watch.look(11, &panics(3)).unwrap();
        assert_eq!((first, &*panic.kernel), (10, "b"));
        // It was emptied.
        watch.push(12, "a", 0);
        assert!(watch.look(13, &panics(1)).is_some());
    }

    #[test]
    fn later_launches_are_looked_at_later() {
        let mut watch = watch();
        watch.push(4, "a", 0);
        watch.push(8, "b", 0);
        assert!(watch.look(3, &panics(1)).is_none());
        assert!(watch.look(6, &panics(0)).is_none());
        assert!(watch.is_open() && !watch.is_open_before(6));
        assert_eq!(watch.look(9, &panics(1)).map(|(first, _)| first), Some(6));
        assert!(!watch.is_open());
    }
}
