//! Two accesses that nothing orders, and how they are told of.

use super::Model;
use super::word::{Stamp, What};
use std::fmt;

/// Two accesses to a word, one of them plain, of lanes that do not know of each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    /// The word.
    pub address: usize,
    earlier: Told,
    later: Told,
    missing: Missing,
}

/// An access as the message names it.
#[derive(Clone, Copy, Debug)]
struct Told {
    block: u32,
    thread: u32,
    stamp: Stamp,
}

/// What of release and acquire is not there.
#[derive(Clone, Copy, Debug)]
enum Missing {
    Release,
    Acquire,
    Both,
}

impl Race {
    pub(super) fn new(model: &Model, address: usize, earlier: Stamp, later: Stamp) -> Self {
        let told = |stamp: Stamp| {
            let (block, thread) = model.lanes[stamp.who as usize].name(stamp.epoch);
            Told {
                block,
                thread,
                stamp,
            }
        };
        let (first, second) = (
            &model.lanes[earlier.who as usize],
            &model.lanes[later.who as usize],
        );
        let missing = if first.epoch() == earlier.epoch {
            Missing::Release
        } else if second.has_read_of(earlier.who, earlier.epoch) {
            Missing::Acquire
        } else {
            Missing::Both
        };
        Race {
            address,
            earlier: told(earlier),
            later: told(later),
            missing,
        }
    }

    /// The message; `word` is the name of the word.
    pub(crate) fn message(&self, word: &str) -> String {
        let (first, second) = (self.earlier.lane(), self.later.lane());
        let missing = match self.missing {
            Missing::Release => format!(
                "{first} has not released since (no release fence and no barrier), so nobody can have acquired it"
            ),
            Missing::Acquire => format!(
                "{first} has released since, and {second} has read what it stored afterwards, but has not acquired"
            ),
            Missing::Both => format!(
                "{first} has released since, but {second} has not acquired anything that it stored afterwards"
            ),
        };
        format!(
            "data race on {word}: {}; then {}; nothing orders the two: {missing}",
            self.earlier, self.later
        )
    }
}

impl Told {
    fn lane(&self) -> String {
        format!("lane {} of block {}", self.thread, self.block)
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.stamp.what {
            What::Read => "read it (plain)",
            What::Write => "wrote it (plain)",
            What::Load => "loaded it (atomic)",
            What::Change => "changed it (atomic)",
            What::Malloc => "got its block from malloc",
            What::Free => "freed its block",
        };
        let site = self.stamp.site;
        let (file, line, column) = (site.file(), site.line(), site.column());
        write!(f, "{} {what} at {file}:{line}:{column}", self.lane())
    }
}
