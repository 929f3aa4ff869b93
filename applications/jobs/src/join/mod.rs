//! A hash join that writes what it finds into pages of the heap, after Pham and others, *Dynamic Buffer
//! Management in Massively Parallel Systems*, section VI.
//!
//! | module | what |
//! |---|---|
//! | [`tables`], [`read`] | tables: generated ones, files |
//! | `reference`, `most`, [`shape`] | the CPU's answer; how many matches there can be; partitions, buckets, lanes and pages |
//! | `pool` | heaps for pages of one size, and how large they have to be |
//! | `allocators` | which allocators there are |
//! | `context`, `hashed`, `probe`, `run` | what a run works with; partition and build; probe, collect and free; one run of all |
//! | `options`, `ready` | what is asked for; what is made of it before the first run |
//! | `check` | whether it is right |
//! | [`report`] | what comes of it |
//! | `devices`, [`ranks`] | the same on several devices, and by several processes |

mod allocators;
mod check;
mod context;
mod devices;
mod hashed;
mod most;
mod options;
mod pool;
mod probe;
pub mod ranks;
pub mod read;
mod ready;
mod reference;
pub mod report;
mod run;
pub mod shape;
pub mod tables;

pub use allocators::{Job, USUAL, all, traced};
pub use context::Context;
pub use devices::run_on;
pub use options::Options;
pub use ready::Ready;

use crate::allocators::Allocator;
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::progress::Progress;
use check::Mismatch;
use report::{Report, Run, SCHEMA};
use tables::{Generator, Input};
use warpheap::Device;

/// Joins the tables with each of these allocators, and checks the matches against the CPU's.
///
/// # Errors
/// Settings that make no sense, a bad file, a device that fails or answers wrongly, an allocator that cannot do it.
pub fn run(
    device: &Device,
    allocators: &[Allocator<Job>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report, JobError> {
    let ready = Ready::new(device, options)?;
    let context = ready.context(progress);
    let mut runs = Vec::new();
    for allocator in allocators {
        let run = (allocator.job)(&context)?;
        check_same(&runs, &run, device)?;
        runs.push(run);
    }
    if let Input::Generated(generator) = &options.input {
        check_known(generator, &runs, device)?;
    }
    Ok(Report {
        schema: SCHEMA,
        device: DeviceReport::from(device),
        devices: Vec::new(),
        join: ready.report(runs.first().map_or(0, |run| run.found.matches)),
        runs,
        checked: options.checked,
        carrier: None,
        ranks: Vec::new(),
    })
}

/// Holds what a run found against what the first one did: all that can be said where the CPU has no answer.
fn check_same(runs: &[Run], run: &Run, device: &Device) -> Result<(), JobError> {
    let first = runs.first().unwrap_or(run);
    check::same(first.found, run.found).map_err(|mismatch| wrong(run, device, &mismatch))
}

/// Holds the number of matches against what the tables were made for, where that is known.
fn check_known(generator: &Generator, runs: &[Run], device: &Device) -> Result<(), JobError> {
    match (generator.known_matches(), runs.first()) {
        (Some(known), Some(run)) => {
            check::count(known, run.found.matches).map_err(|mismatch| wrong(run, device, &mismatch))
        }
        _ => Ok(()),
    }
}

fn wrong(run: &Run, device: &Device, mismatch: &Mismatch) -> JobError {
    JobError::Wrong {
        allocator: run.allocator,
        backend: device.info().backend.to_string(),
        what: mismatch.to_string(),
    }
}
