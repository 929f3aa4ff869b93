//! Pieces of sequences that are counted while others are still on their way.

use crate::ranks::overlap::Stretches;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpheap::DeviceVec;
use warpheap_applications::kmer::Kmer;
use warpheap_applications::supermer::Supermer;

/// What came in a round, on the device.
pub type Pieces = Arc<DeviceVec<Supermer>>;

/// What has come and has to be counted, and what was counted.
pub struct Arrivals {
    come: Mutex<Receiver<Pieces>>,
    counted: Mutex<Counted>,
    /// Closed when the first is waited for, or nobody will.
    ready: Mutex<Option<Sender<()>>>,
}

/// Closes [`Arrivals::ready`] when it is dropped.
pub struct Waiting<'a>(&'a Arrivals);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.is_ready();
    }
}

/// What came of it.
#[derive(Default)]
pub struct Counted {
    /// K-mers that came.
    pub kmers: u64,
    /// What the map held.
    pub pairs: Vec<(Kmer, u32)>,
    /// When the device counted, or got what it was to count.
    pub work: Stretches,
}

impl Arrivals {
    /// Nothing yet, and where it comes in. It ends when the sender is dropped. The receiver ends when whoever counts waits for the
    /// first, or when all [`Waiting`] is over.
    pub fn new() -> (Sender<Pieces>, Receiver<()>, Self) {
        let (sender, receiver) = channel();
        let (ready, is_ready) = channel();
        let arrivals = Arrivals {
            come: Mutex::new(receiver),
            counted: Mutex::default(),
            ready: Mutex::new(Some(ready)),
        };
        (sender, is_ready, arrivals)
    }

    /// Says that somebody will count, until it is dropped: then nobody waits for that any more.
    pub fn waiting(&self) -> Waiting<'_> {
        Waiting(self)
    }

    fn is_ready(&self) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        *ready = None;
    }

    /// Counts what came in each round, in their order, until that fails or there is no more; `count` says how many k-mers they were.
    ///
    /// # Errors
    /// Those of `count`.
    pub fn each<E>(
        &self,
        mut count: impl FnMut(&DeviceVec<Supermer>) -> Result<u32, E>,
    ) -> Result<(), E> {
        self.is_ready();
        let come = self.come.lock().unwrap_or_else(PoisonError::into_inner);
        for pieces in come.iter() {
            let mut work = Stretches::default();
            let outcome = work.during(|| count(&pieces));
            let mut counted = self.counted();
            counted.work.append(work);
            counted.kmers += u64::from(outcome?);
        }
        Ok(())
    }

    /// Keeps what the map held.
    pub fn keep(&self, pairs: Vec<(Kmer, u32)>) {
        self.counted().pairs = pairs;
    }

    /// What came of it.
    pub fn finish(self) -> Counted {
        let counted = self.counted.into_inner();
        counted.unwrap_or_else(PoisonError::into_inner)
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
