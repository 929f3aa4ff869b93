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
//! | `hashed`, `probe`, `run` | partition and build; probe, collect and free; one run of all |
//! | `check` | whether it is right |
//! | `report`, `show`, `plot` | what is printed and drawn |

mod allocators;
pub mod args;
pub mod check;
mod hashed;
mod plot;
mod pool;
mod probe;
pub mod read;
mod reference;
mod report;
mod run;
mod shape;
mod show;
mod tables;

use crate::allocators as named;
use crate::device::DeviceReport;
use crate::error::CliError;
use crate::progress::Progress;
use args::JoinArgs;
use reference::Sorted;
use report::{JoinReport, Report, SCHEMA};
use run::Context;
use shape::Shape;
use std::time::Instant;
use warpheap::{Device, DeviceInfo, DeviceVec};

/// The command `join`.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn run(args: &JoinArgs) -> Result<String, CliError> {
    crate::plot::check(args.plot.as_deref())?;
    let usual = allocators::USUAL.map(String::from);
    let names = match &args.allocator[..] {
        [] => &usual[..],
        names => names,
    };
    let chosen = named::named(names, &allocators::all(), named::DEFAULT)?;
    let device = Device::open_named(args.backend.as_deref(), args.device.as_deref())?;
    let kernels = warpheap_applications::load(&device)?;

    let started = Instant::now();
    let (tables, source) = tables::of(args)?;
    let (left, right) = (tables.left.len() as u32, tables.right.len() as u32);
    check_rows(device.info(), left.max(right))?;
    let sorted = Sorted::new(&tables);
    let matches = sorted.count();
    tables::check_matches(matches)?;
    let expected = sorted.join();
    let load = started.elapsed();

    let shape = Shape::new(left, right, matches, args.per_lane, args.page);
    let started = Instant::now();
    let context = Context {
        device: &device,
        kernels: &kernels,
        left: &DeviceVec::from_slice(&device, &tables.left)?,
        right: &DeviceVec::from_slice(&device, &tables.right)?,
        expected: &expected,
        shape,
        pool: args.pool,
        repeats: args.repeats,
        progress: Progress::detect(),
    };
    let upload = started.elapsed();
    let mut runs = Vec::new();
    for allocator in &chosen {
        runs.push((allocator.job)(&context)?);
    }
    let report = Report {
        schema: SCHEMA,
        device: DeviceReport::from(&device),
        join: JoinReport::new(source, [left, right], &shape, [load, upload]),
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
