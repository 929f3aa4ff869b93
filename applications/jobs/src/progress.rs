//! How a job tells how far it is, and lets its heap be looked at.

use crate::error::JobError;
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
