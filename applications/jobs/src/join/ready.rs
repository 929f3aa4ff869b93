//! What is made before the first run.

use super::context::Context;
use super::most;
use super::options::Options;
use super::reference::Sorted;
use super::report::{JoinReport, Source};
use super::shape::Shape;
use super::tables::{self, MOST_ROWS, Tables};
use crate::error::JobError;
use crate::progress::Progress;
use crate::room::first_copy;
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
        let loading = started.elapsed();
        let mut ready = Self::of_tables(device, kernels, tables, source, options)?;
        ready.times[0] += loading;
        Ok(ready)
    }

    /// The same of tables that are there, and may have no rows; the time of loading is that of the CPU's join.
    ///
    /// # Errors
    /// More rows or matches than there can be, a device that fails.
    pub(super) fn of_tables(
        device: &Device,
        kernels: Kernels,
        tables: Tables,
        source: Source,
        options: &Options,
    ) -> Result<Self, JobError> {
        let rows = tables.left.len().max(tables.right.len());
        check_rows(device.info(), rows as u64)?;
        first_copy(device, size_of_val(&tables.left[..]))?;
        let started = Instant::now();
        let left = DeviceVec::from_slice(device, &tables.left)?;
        let right = DeviceVec::from_slice(device, &tables.right)?;
        let upload = started.elapsed();
        let tables = Some(tables);
        let mut ready = Self::with(device, kernels, left, right, tables, source, options)?;
        ready.times[1] = upload;
        Ok(ready)
    }

    /// The same of tables that are on the device.
    ///
    /// # Errors
    /// More rows or matches than there can be, a device that fails.
    pub(super) fn of(
        device: &Device,
        kernels: Kernels,
        left: DeviceVec<Tuple>,
        right: DeviceVec<Tuple>,
        source: Source,
        options: &Options,
    ) -> Result<Self, JobError> {
        check_rows(device.info(), left.len().max(right.len()) as u64)?;
        Self::with(device, kernels, left, right, None, source, options)
    }

    /// Of tables on the device; `tables` are the same if they are at hand.
    fn with(
        device: &Device,
        kernels: Kernels,
        left: DeviceVec<Tuple>,
        right: DeviceVec<Tuple>,
        tables: Option<Tables>,
        source: Source,
        options: &Options,
    ) -> Result<Self, JobError> {
        let started = Instant::now();
        let (matches, expected) = match options.checked {
            true => {
                let tables = match tables {
                    Some(tables) => tables,
                    None => Tables {
                        left: left.to_vec()?,
                        right: right.to_vec()?,
                    },
                };
                let sorted = Sorted::new(&tables);
                let matches = sorted.count();
                tables::check_matches(matches)?;
                (matches, Some(sorted.join()))
            }
            false => (most::matches(device, &kernels, &left, &right)?, None),
        };
        let (rows_left, rows_right) = (left.len() as u32, right.len() as u32);
        let (per_lane, page) = (options.per_lane, options.page);
        Ok(Ready {
            device: device.clone(),
            kernels,
            left,
            right,
            expected,
            shape: Shape::new(rows_left, rows_right, matches, per_lane, page),
            pool: options.pool,
            repeats: options.repeats,
            source,
            times: [started.elapsed(), Duration::ZERO],
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
