//! What is known of a word: who accessed it, and which of its values may still be seen.

use super::clock::{Clock, both};
use super::lane::Lane;
use std::collections::VecDeque;
use std::rc::Rc;
use warpheap_rt::arch::simt::Site;

/// Values of a word that are remembered. Older ones are never seen: less than what may happen.
pub(super) const HISTORY: usize = 8;

/// What was done to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Read,
    Write,
    Load,
    /// A store, or a read-modify-write.
    Change,
    /// Its block was handed out.
    Malloc,
    /// Its block was taken back.
    Free,
}

/// Who did it, when and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub who: u32,
    pub epoch: u32,
    pub what: What,
    pub site: Site,
}

/// A word.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// The last plain write.
    written: Option<Stamp>,
    /// A plain read since, and others in `shared`.
    read: Option<Stamp>,
    shared: Option<Box<Shared>>,
}

/// Atomic accesses to a word, and plain reads by more than one lane.
#[derive(Debug, Default)]
pub(super) struct Shared {
    reads: Vec<Stamp>,
    loads: Vec<Stamp>,
    changes: Vec<Stamp>,
    /// The last values, the newest at the end. Empty until the first atomic access.
    values: VecDeque<Stored>,
}

/// A value that a word has or had.
#[derive(Debug)]
struct Stored {
    value: u32,
    /// Who stored it, in which epoch: 0 if everyone knows it.
    who: u32,
    epoch: u32,
    /// What whoever reads it may acquire.
    view: Option<Rc<Clock>>,
    /// Who saw it.
    seen: Vec<(u32, u32)>,
}

impl Stored {
    fn is_known(&self, lane: &Lane) -> bool {
        self.epoch == 0
            || lane.knows(self.who, self.epoch)
            || self.seen.iter().any(|&(who, epoch)| lane.knows(who, epoch))
    }
}

/// The first of the earlier accesses that the lane does not know.
fn unknown<'a>(stamps: impl IntoIterator<Item = &'a Stamp>, lane: &Lane) -> Result<(), Box<Stamp>> {
    let mut stamps = stamps.into_iter();
    match stamps.find(|stamp| !lane.knows(stamp.who, stamp.epoch)) {
        Some(earlier) => Err(Box::new(*earlier)),
        None => Ok(()),
    }
}

/// Notes an access in the place of the same lane's last one.
fn note(stamps: &mut Vec<Stamp>, stamp: Stamp) {
    // Who was here last is often here again.
    match stamps.iter_mut().rev().find(|other| other.who == stamp.who) {
        Some(own) => *own = stamp,
        None => stamps.push(stamp),
    }
}

impl Word {
    /// A plain read.
    ///
    /// # Errors
    /// The access that it races with.
    #[inline]
    pub fn read(&mut self, lane: &Lane, stamp: Stamp) -> Result<(), Box<Stamp>> {
        unknown(&self.written, lane)?;
        if let Some(shared) = &self.shared {
            unknown(&shared.changes, lane)?;
        }
        match &self.read {
            // A write that knows this read knows the earlier one, too.
            Some(earlier) if !lane.knows(earlier.who, earlier.epoch) => {
                note(&mut self.shared.get_or_insert_default().reads, stamp);
            }
            _ => self.read = Some(stamp),
        }
        Ok(())
    }

    /// A plain write, or what counts as one.
    ///
    /// # Errors
    /// The access that it races with.
    #[inline]
    pub fn write(&mut self, lane: &Lane, stamp: Stamp) -> Result<(), Box<Stamp>> {
        unknown(&self.written, lane)?;
        unknown(&self.read, lane)?;
        if let Some(shared) = &self.shared {
            unknown(&shared.reads, lane)?;
            unknown(&shared.loads, lane)?;
            unknown(&shared.changes, lane)?;
        }
        // Whoever knows this access knows all before it.
        *self = Word {
            written: Some(stamp),
            ..Word::default()
        };
        Ok(())
    }

    /// An atomic access to a word that has this value: what goes on with it.
    ///
    /// # Errors
    /// The access that it races with.
    pub fn atomic(
        &mut self,
        lane: &Lane,
        stamp: Stamp,
        value: u32,
    ) -> Result<&mut Shared, Box<Stamp>> {
        unknown(&self.written, lane)?;
        let shared = self.shared.get_or_insert_default();
        if stamp.what == What::Change {
            unknown(&self.read, lane)?;
            unknown(&shared.reads, lane)?;
            note(&mut shared.changes, stamp);
        } else {
            note(&mut shared.loads, stamp);
        }
        if shared.values.is_empty() {
            shared.values.push_back(Stored {
                value,
                who: 0,
                epoch: 0,
                view: None,
                seen: Vec::new(),
            });
        }
        Ok(shared)
    }
}

impl Shared {
    /// The oldest value that the lane may see: the newest one that it knows.
    fn oldest(&self, lane: &Lane) -> usize {
        let known = |stored: &Stored| stored.is_known(lane);
        self.values.iter().rposition(known).unwrap_or(0)
    }

    /// The lane sees one of the values that it may see: an old one if `stale` picks one of so many.
    pub fn see(&mut self, lane: &mut Lane, stale: impl FnOnce(u32) -> Option<u32>) -> u32 {
        let (oldest, newest) = (self.oldest(lane), self.values.len() - 1);
        let mut at = newest;
        if oldest != newest
            && let Some(back) = stale((newest - oldest) as u32)
        {
            at = oldest + back as usize;
        }
        let stored = &mut self.values[at];
        if at != oldest {
            stored.seen.push((lane.me(), lane.epoch()));
        }
        if let Some(view) = &stored.view {
            lane.reads(view);
        }
        stored.value
    }

    /// The lane stores a value in an epoch of its own, or changes the newest one to it.
    pub fn push(&mut self, lane: &mut Lane, epoch: u32, value: u32, changes: bool) {
        let mut view = lane.released().cloned();
        if changes
            && let Some(newest) = self.values.back()
            && let Some(earlier) = newest.view.clone()
        {
            // Who reads this value has seen the earlier one, too.
            view = Some(view.map_or_else(|| earlier.clone(), |own| both(&own, &earlier)));
            lane.reads(&earlier);
        }
        if self.values.len() == HISTORY {
            self.values.pop_front();
        }
        self.values.push_back(Stored {
            value,
            who: lane.me(),
            epoch,
            view,
            seen: Vec::new(),
        });
    }
}
