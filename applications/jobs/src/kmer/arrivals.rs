//! Sequences that are counted while others are still on their way.

use super::sequences::Sequences;
use crate::ranks::overlap::Stretches;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpheap_applications::kmer::Kmer;

/// What has come and has to be counted, and what was counted.
pub struct Arrivals {
    come: Mutex<Receiver<Sequences>>,
    counted: Mutex<Counted>,
}

/// What came of it.
#[derive(Default)]
pub struct Counted {
    /// What the map held.
    pub pairs: Vec<(Kmer, u32)>,
    /// When the device counted, or got what it was to count.
    pub work: Stretches,
}

impl Arrivals {
    /// Nothing yet, and where it comes in. It ends when the sender is dropped.
    pub fn new() -> (Sender<Sequences>, Self) {
        let (sender, receiver) = channel();
        let arrivals = Arrivals {
            come: Mutex::new(receiver),
            counted: Mutex::default(),
        };
        (sender, arrivals)
    }

    /// Does something with each of the sequences, in their order, until it fails or there are no more.
    ///
    /// # Errors
    /// Those of `count`.
    pub fn each<E>(&self, mut count: impl FnMut(&Sequences) -> Result<(), E>) -> Result<(), E> {
        let come = self.come.lock().unwrap_or_else(PoisonError::into_inner);
        for sequences in come.iter() {
            let mut work = Stretches::default();
            let outcome = work.during(|| count(&sequences));
            self.counted().work.append(work);
            outcome?;
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
