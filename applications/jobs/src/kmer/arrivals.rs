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
    /// Nothing yet, and where it comes in. It ends when the sender is dropped.
    pub fn new() -> (Sender<Pieces>, Self) {
        let (sender, receiver) = channel();
        let arrivals = Arrivals {
            come: Mutex::new(receiver),
            counted: Mutex::default(),
        };
        (sender, arrivals)
    }

    /// Counts what came in each round, in their order, until that fails or there is no more; `count` says how many k-mers they were.
    ///
    /// # Errors
    /// Those of `count`.
    pub fn each<E>(
        &self,
        mut count: impl FnMut(&DeviceVec<Supermer>) -> Result<u32, E>,
    ) -> Result<(), E> {
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
