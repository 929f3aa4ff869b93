//! The graph job: a real graph, built inside kernels that allocate.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `edges`, `generate`, `read` | graphs: what they are, generated ones, files |
//! | `input`, `reference` | the graph that was asked for, and the CPU's answers |
//! | `growth`, `pool` | what the vectors ask of a heap, and the pool that is enough |
//! | `allocators` | which allocators there are |
//! | `context`, `batch`, `insert`, `steps`, `rank`, `ranks`, `run` | one run on a device |
//! | `changing` | a graph whose edges come and go |
//! | `check` | whether it is right |
//! | `report`, `show` | what is printed |

pub mod allocators;
pub mod args;
mod batch;
pub mod changing;
pub mod check;
mod context;
mod edges;
pub mod generate;
mod growth;
mod input;
mod insert;
pub mod pool;
mod rank;
mod ranks;
pub mod read;
mod reference;
mod report;
mod run;
mod show;
mod steps;

use crate::allocators::{self as named, Allocator, LeftOut};
use crate::device::{self, DeviceReport};
use crate::error::CliError;
use crate::graph::args::{GraphArgs, JobArgs};
use crate::progress::Progress;
use allocators::Job;
use context::Context;
use input::Reference;
use report::{Report, SCHEMA};

/// The command without a name: a generated graph with every allocator.
///
/// # Errors
/// As [`one`].
pub fn table(args: &JobArgs) -> Result<String, CliError> {
    let allocators = named::named(&args.allocator, &allocators::all(), "all")?;
    job(args, &allocators, || input::generated(args, false))
}

/// The command `graph`: a graph, by default with the one allocator that a user would take.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn one(args: &GraphArgs) -> Result<String, CliError> {
    if args.changes.asked() {
        return changing::job::job(args);
    }
    let allocators = named::named(&args.job.allocator, &allocators::all(), named::DEFAULT)?;
    job(&args.job, &allocators, || input::from_graph_args(args))
}

/// Opens the device before the graph is made: a wrong name should not wait for a large file.
fn job(
    args: &JobArgs,
    allocators: &[Allocator<Job>],
    graph: impl FnOnce() -> Result<Reference, CliError>,
) -> Result<String, CliError> {
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let kernels = warpheap_applications::load(&device)?;
    let reference = graph()?;
    let context = Context {
        device: &device,
        kernels: &kernels,
        reference: &reference,
        demand: &reference.demand(),
        pool: args.pool,
        grow: args.grow,
        batch: args.batch,
        progress: Progress::detect(),
    };
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    for allocator in allocators {
        match (allocator.job.fits)(context.demand) {
            Ok(()) => runs.push((allocator.job.run)(&context)?),
            Err(error) if allocator.by_name => return Err(error),
            Err(error) => left_out.push(LeftOut::new(allocator.name, &error)),
        }
    }
    let report = Report {
        schema: SCHEMA,
        device: DeviceReport::from(&device),
        graph: reference.report,
        runs,
        left_out,
    };
    if args.json {
        crate::text::json(&report)
    } else {
        Ok(report.text())
    }
}
