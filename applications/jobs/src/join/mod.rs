//! A hash join that writes what it finds into pages of the heap, after Pham and others, *Dynamic Buffer
//! Management in Massively Parallel Systems*, section VI.
//!
//! | module | what |
//! |---|---|
//! | [`tables`], [`read`] | tables: generated ones, files |
//! | `reference`, [`shape`] | the CPU's answer; partitions, buckets, lanes and pages |
//! | `pool` | heaps for pages of one size, and how large they have to be |
//! | `allocators` | which allocators there are |
//! | `context`, `hashed`, `probe`, `run` | what a run works with; partition and build; probe, collect and free; one run of all |
//! | `options`, `ready` | what is asked for; what is made of it before the first run |
//! | `check` | whether it is right |
//! | [`report`] | what comes of it |

mod allocators;
mod check;
mod context;
mod hashed;
mod options;
mod pool;
mod probe;
pub mod read;
mod ready;
mod reference;
pub mod report;
mod run;
pub mod shape;
pub mod tables;

pub use allocators::{Job, USUAL, all, traced};
pub use context::Context;
pub use options::Options;
pub use ready::Ready;

use crate::allocators::Allocator;
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::progress::Progress;
use report::{Report, SCHEMA};
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
        runs.push((allocator.job)(&context)?);
    }
    Ok(Report {
        schema: SCHEMA,
        device: DeviceReport::from(device),
        join: ready.report(),
        runs,
    })
}
