//! A hash join that writes what it finds into pages of the heap, after Pham and others, *Dynamic Buffer
//! Management in Massively Parallel Systems*, section VI.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `tables`, `read` | tables: generated ones, files |
//! | `reference`, `shape` | the CPU's answer; partitions, buckets, lanes and pages |
//! | `pool` | heaps for pages of one size, and how large they have to be |
//! | `allocators` | which allocators there are |
//! | `context`, `hashed`, `probe`, `run` | what a run works with; partition and build; probe, collect and free; one run of all |
//! | `check` | whether it is right |
//! | `report`, `show`, `plot` | what is printed and drawn |

pub mod allocators;
pub mod args;
pub mod check;
mod context;
mod hashed;
mod plot;
mod pool;
mod probe;
pub mod read;
mod reference;
pub mod report;
mod run;
mod shape;
mod show;
mod tables;

use crate::allocators as named;
use crate::device::{self, DeviceReport};
use crate::error::CliError;
use crate::progress::Progress;
use args::JoinArgs;
use context::Context;
use reference::Sorted;
use report::{JoinReport, Report, SCHEMA, Source};
use shape::Shape;
use std::time::{Duration, Instant};
use warpheap::{Device, DeviceInfo, DeviceVec, SnapshotSeries};
use warpheap_applications::Kernels;
use warpheap_applications::join::Tuple;

/// The command `join`.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn run(args: &JoinArgs) -> Result<String, CliError> {
    crate::heap_map::around(args.heap_map.as_deref(), args.json, |snapshots| {
        job(args, snapshots)
    })
}

fn job(args: &JoinArgs, snapshots: &SnapshotSeries) -> Result<String, CliError> {
    crate::plot::check(args.plot.as_deref())?;
    let usual = allocators::USUAL.map(String::from);
    let names = match &args.allocator[..] {
        [] => &usual[..],
        names => names,
    };
    let chosen = named::named(names, &allocators::all(), named::DEFAULT)?;
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let ready = Ready::new(&device, args)?;
    let context = Context {
        snapshots,
        ..ready.context()
    };
    let mut runs = Vec::new();
    for allocator in &chosen {
        runs.push((allocator.job)(&context)?);
    }
    let report = Report {
        schema: SCHEMA,
        device: DeviceReport::from(&device),
        join: ready.report(),
        runs,
    };
    let text = match args.json {
        true => crate::text::json(&report)?,
        false => report.text(),
    };
    if let Some(path) = &args.plot {
        plot::write(path, &report)?;
    }
    Ok(text)
}

/// A join that is ready to be run with any allocator.
pub struct Ready {
    device: Device,
    kernels: Kernels,
    left: DeviceVec<Tuple>,
    right: DeviceVec<Tuple>,
    expected: Vec<u64>,
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
    /// A bad file, more rows or matches than there can be, a device that fails.
    pub fn new(device: &Device, args: &JoinArgs) -> Result<Self, CliError> {
        let kernels = warpheap_applications::load(device)?;
        let started = Instant::now();
        let (tables, source) = tables::of(args)?;
        let (left, right) = (tables.left.len() as u32, tables.right.len() as u32);
        check_rows(device.info(), left.max(right))?;
        let sorted = Sorted::new(&tables);
        let matches = sorted.count();
        tables::check_matches(matches)?;
        let expected = sorted.join();
        let load = started.elapsed();
        let started = Instant::now();
        Ok(Ready {
            device: device.clone(),
            kernels,
            left: DeviceVec::from_slice(device, &tables.left)?,
            right: DeviceVec::from_slice(device, &tables.right)?,
            expected,
            shape: Shape::new(left, right, matches, args.per_lane, args.page),
            pool: args.pool,
            repeats: args.repeats,
            source,
            times: [load, started.elapsed()],
        })
    }

    /// What a run works with.
    pub fn context(&self) -> Context<'_> {
        Context {
            device: &self.device,
            kernels: &self.kernels,
            left: &self.left,
            right: &self.right,
            expected: &self.expected,
            shape: self.shape,
            pool: self.pool,
            repeats: self.repeats,
            snapshots: &crate::heap_map::NONE,
            progress: Progress::detect(),
        }
    }

    fn report(&self) -> JoinReport {
        let rows = [self.left.len() as u32, self.right.len() as u32];
        JoinReport::new(self.source.clone(), rows, &self.shape, self.times)
    }
}

/// Checks that a launch can have a lane for each row.
fn check_rows(info: &DeviceInfo, rows: u32) -> Result<(), CliError> {
    let most = u64::from(info.max_grid_dim) * 256;
    if u64::from(rows) > most {
        return Err(CliError::Usage(format!(
            "{rows} rows are too many: {} starts at most {most} lanes at a time, one for each row; take fewer rows or \
             another device",
            info.name
        )));
    }
    Ok(())
}
