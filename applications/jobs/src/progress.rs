//! How a job tells how far it is, and lets its heap be looked at.

use crate::error::JobError;
use std::sync::atomic::{AtomicU64, Ordering};
use warpheap::{HostAlloc, Pool, RawPool, SnapshotSeries};

static NONE: SnapshotSeries = SnapshotSeries::none();

/// Who is told.
pub trait Progress: Sync {
    /// Begins something of `total` steps that `label` names. It ends when what is returned is dropped.
    fn bar(&self, label: String, total: u64) -> Box<dyn Bar>;

    /// Where snapshots of the heap go, which are taken after each batch, round or probe: nowhere, unless someone wants them.
    fn snapshots(&self) -> &SnapshotSeries {
        &NONE
    }

    /// A heap is about to be dropped, also that of a job that failed: the time to take its trace, if it keeps one.
    ///
    /// # Errors
    /// Those of whoever takes it.
    fn heap_ends(&self, _pool: &RawPool) -> Result<(), JobError> {
        Ok(())
    }
}

/// Something that is under way.
pub trait Bar: Sync {
    /// So many steps more are done.
    fn advance(&self, steps: u64);
}

/// The bar of something that may begin again from the start: what was shown once is not shown again.
pub(crate) struct Furthest<'a> {
    bar: &'a dyn Bar,
    /// Steps that are shown.
    shown: AtomicU64,
}

impl<'a> Furthest<'a> {
    /// Nothing is done yet.
    pub(crate) fn of(bar: &'a dyn Bar) -> Self {
        let shown = AtomicU64::new(0);
        Furthest { bar, shown }
    }

    /// This attempt has done so many steps.
    pub(crate) fn reached(&self, steps: u64) {
        let shown = self.shown.fetch_max(steps, Ordering::Relaxed);
        if steps > shown {
            self.bar.advance(steps - shown);
        }
    }
}

/// Nobody is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn bar(&self, _label: String, _total: u64) -> Box<dyn Bar> {
        Box::new(Silent)
    }
}

impl Bar for Silent {
    fn advance(&self, _steps: u64) {}
}

/// Takes a snapshot of a heap in which something failed: it may be full.
///
/// # Errors
/// What failed.
pub(crate) fn kept<A: HostAlloc, T, E>(
    progress: &dyn Progress,
    pool: &Pool<A>,
    label: &str,
    outcome: Result<T, E>,
) -> Result<T, E> {
    if outcome.is_err() {
        // What failed says more than that there is no snapshot of it.
        let _ = progress.snapshots().always(pool, label);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shown(AtomicU64);

    impl Bar for Shown {
        fn advance(&self, steps: u64) {
            self.0.fetch_add(steps, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_bar_goes_no_further_than_the_best_attempt() {
        let bar = Shown(AtomicU64::new(0));
        let furthest = Furthest::of(&bar);
        let shown = |reached: &[u64]| {
            reached.iter().for_each(|steps| furthest.reached(*steps));
            bar.0.load(Ordering::Relaxed)
        };
        assert_eq!(shown(&[10, 20, 30]), 30);
        assert_eq!(
            shown(&[10, 20]),
            30,
            "the second attempt is behind the first one"
        );
        assert_eq!(shown(&[30, 40, 45]), 45);
    }
}
