//! Snapshots one after the other, with what each was taken after.

use super::Snapshot;
use crate::host::{DeviceError, HostAlloc, Pool};
use std::fmt::Display;
use std::string::{String, ToString};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

/// Snapshots that a program takes while it works, each with a label. However many it asks for, no more than
/// [`MOST`](Self::MOST) are kept: then every second one is left out, and from there on as many are not taken.
#[derive(Debug, Default)]
pub struct SnapshotSeries {
    taken: Option<Mutex<Taken>>,
}

#[derive(Debug)]
struct Taken {
    snapshots: Vec<(String, Snapshot)>,
    /// One of so many is taken.
    step: u64,
    asked: u64,
}

impl SnapshotSeries {
    /// Snapshots that are kept at most, but for those that [`always`](Self::always) takes.
    pub const MOST: usize = 64;

    /// A series without any snapshot yet.
    pub fn new() -> Self {
        SnapshotSeries {
            taken: Some(Mutex::new(Taken {
                snapshots: Vec::new(),
                step: 1,
                asked: 0,
            })),
        }
    }

    /// A series that stays empty: asking it for snapshots costs nothing.
    pub const fn none() -> Self {
        SnapshotSeries { taken: None }
    }

    fn taken(&self) -> Option<MutexGuard<'_, Taken>> {
        let taken = self.taken.as_ref()?;
        Some(taken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the next snapshot, unless so many were taken that this one is left out.
    ///
    /// # Errors
    /// As [`Pool::snapshot`].
    pub fn take<A: HostAlloc>(
        &self,
        pool: &Pool<A>,
        label: impl Display,
    ) -> Result<(), DeviceError> {
        let Some(mut taken) = self.taken() else {
            return Ok(());
        };
        taken.asked += 1;
        if !(taken.asked - 1).is_multiple_of(taken.step) {
            return Ok(());
        }
        if taken.snapshots.len() >= Self::MOST {
            let mut keep = [false, true].into_iter().cycle();
            taken.snapshots.retain(|_| !keep.next().unwrap_or(false));
            taken.step *= 2;
        }
        taken.snapshots.push((label.to_string(), pool.snapshot()?));
        Ok(())
    }

    /// Takes a snapshot that is not to be missing: of a heap that is full, or the last one.
    ///
    /// # Errors
    /// As [`Pool::snapshot`].
    pub fn always<A: HostAlloc>(
        &self,
        pool: &Pool<A>,
        label: impl Display,
    ) -> Result<(), DeviceError> {
        if let Some(mut taken) = self.taken() {
            taken.snapshots.push((label.to_string(), pool.snapshot()?));
        }
        Ok(())
    }

    /// The snapshots in their order, with their labels.
    pub fn into_snapshots(self) -> Vec<(String, Snapshot)> {
        let taken = self.taken.map(Mutex::into_inner);
        let taken = taken.map(|taken| taken.unwrap_or_else(PoisonError::into_inner));
        taken.map_or_else(Vec::new, |taken| taken.snapshots)
    }
}
