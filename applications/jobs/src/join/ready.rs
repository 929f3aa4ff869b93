//! What is made before the first run.

use super::context::Context;
use super::options::Options;
use super::reference::{self, Sorted};
use super::report::{JoinReport, Source};
use super::shape::Shape;
use super::tables::{self, MOST_ROWS, Tables};
use crate::error::JobError;
use crate::progress::Progress;
use std::time::{Duration, Instant};
use warpheap::{Device, DeviceInfo, DeviceVec};
use warpheap_applications::Kernels;
use warpheap_applications::join::Tuple;

/// A join that is ready to be run with any allocator.
pub struct Ready {
    device: Device,
    kernels: Kernels,
    left: DeviceVec<Tuple>,
    right: DeviceVec<Tuple>,
    expected: Option<Vec<u64>>,
    shape: Shape,
    pool: Option<u64>,
    repeats: u32,
    source: Source,
    times: [Duration; 2],
}

impl Ready {
    /// Reads or generates the tables, joins them on the CPU, and copies them to the device.
    ///
    /// # Errors
    /// Settings out of bounds, a bad file, more rows or matches than there can be, a device that fails.
    pub fn new(device: &Device, options: &Options) -> Result<Self, JobError> {
        options.check()?;
        let kernels = warpheap_applications::load(device)?;
        let started = Instant::now();
        let (tables, source) = options.input.tables()?;
        let mut ready = Self::of(device, kernels, &tables, source, options)?;
        ready.times[0] = started.elapsed().saturating_sub(ready.times[1]);
        Ok(ready)
    }

    /// The same of tables that are there, which may have no rows; the time of loading is that of the CPU's join.
    ///
    /// # Errors
    /// More rows or matches than there can be, a device that fails.
    pub(super) fn of(
        device: &Device,
        kernels: Kernels,
        tables: &Tables,
        source: Source,
        options: &Options,
    ) -> Result<Self, JobError> {
        let rows = tables.left.len().max(tables.right.len());
        check_rows(device.info(), rows as u64)?;
        let (left, right) = (tables.left.len() as u32, tables.right.len() as u32);
        let started = Instant::now();
        let (matches, expected) = match options.checked {
            true => {
                let sorted = Sorted::new(tables);
                let matches = sorted.count();
                tables::check_matches(matches)?;
                (matches, Some(sorted.join()))
            }
            false => (reference::most_matches(tables), None),
        };
        let load = started.elapsed();
        let started = Instant::now();
        Ok(Ready {
            device: device.clone(),
            kernels,
            left: DeviceVec::from_slice(device, &tables.left)?,
            right: DeviceVec::from_slice(device, &tables.right)?,
            expected,
            shape: Shape::new(left, right, matches, options.per_lane, options.page),
            pool: options.pool,
            repeats: options.repeats,
            source,
            times: [load, started.elapsed()],
        })
    }

    /// What a run works with.
    pub fn context<'a>(&'a self, progress: &'a dyn Progress) -> Context<'a> {
        Context {
            device: &self.device,
            kernels: &self.kernels,
            left: &self.left,
            right: &self.right,
            expected: self.expected.as_deref(),
            shape: self.shape,
            pool: self.pool,
            repeats: self.repeats,
            progress,
        }
    }

    /// What was joined, with these matches.
    pub fn report(&self, matches: u64) -> JoinReport {
        let rows = [self.left.len() as u64, self.right.len() as u64];
        let shape = Shape {
            matches,
            ..self.shape
        };
        JoinReport::new(self.source.clone(), rows, &shape, self.times)
    }
}

/// Checks that a launch can have a lane for each row.
fn check_rows(info: &DeviceInfo, rows: u64) -> Result<(), JobError> {
    let most = u64::from(info.max_grid_dim) * 256;
    let most = most.min(MOST_ROWS.into());
    if rows > most {
        return Err(JobError::Usage(format!(
            "{rows} rows are too many: {} starts at most {most} lanes at a time, one for each row; take fewer rows or \
             another device",
            info.name
        )));
    }
    Ok(())
}
