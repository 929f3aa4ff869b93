//! `warpheap` and `warpheap graph`: a graph built inside kernels that allocate, and one that changes.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `show`, `changing` | what is printed and drawn |

pub mod args;
mod changing;
mod show;

use crate::error::CliError;
use crate::{heap_map, text, trace};
use args::{GraphArgs, JobArgs};
use warpheap_jobs::allocators::{self, Allocator, DEFAULT};
use warpheap_jobs::device;
use warpheap_jobs::graph;
use warpheap_jobs::progress::Progress;

/// The command without a name: a generated graph with every allocator.
///
/// # Errors
/// As [`one`].
pub fn table(args: &JobArgs) -> Result<String, CliError> {
    let options = args.options(args.input());
    map(args, |progress| build(args, "all", &options, progress))
}

/// The command `graph`: a graph, by default with the one allocator that a user would take.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn one(args: &GraphArgs) -> Result<String, CliError> {
    let job = &args.job;
    if args.changes.asked() {
        return map(job, |progress| changing::run(args, progress));
    }
    let options = job.options(args.input()?);
    map(job, |progress| build(job, DEFAULT, &options, progress))
}

/// The command `graph` of a graph that is built, with heaps that keep a trace.
///
/// # Errors
/// As [`one`]; options of a graph that changes, of a heap that grows, and for what is not drawn.
pub fn traced(args: &GraphArgs, progress: &dyn Progress) -> Result<String, CliError> {
    let job = &args.job;
    trace::undrawn("graph", job.heap_map.is_some())?;
    let refused = [
        (args.changes.asked(), "a graph that changes"),
        (job.grow.is_some(), "a heap that grows (--grow)"),
    ];
    for (asked, what) in refused {
        if asked {
            return Err(CliError::Usage(format!(
                "{what} keeps no trace: record a graph that is built in a heap of one size"
            )));
        }
    }
    let options = job.options(args.input()?);
    with(job, &graph::traced(), DEFAULT, &options, progress)
}

fn map(
    args: &JobArgs,
    job: impl FnOnce(&dyn Progress) -> Result<String, CliError>,
) -> Result<String, CliError> {
    heap_map::around(args.heap_map.as_deref(), args.json, job)
}

fn build(
    args: &JobArgs,
    otherwise: &str,
    options: &graph::Options,
    progress: &dyn Progress,
) -> Result<String, CliError> {
    with(args, &graph::all(), otherwise, options, progress)
}

/// Builds a graph with some of `all`. Opens the device before the graph is made: a wrong name should not wait for a large file.
fn with(
    args: &JobArgs,
    all: &[Allocator<graph::Job>],
    otherwise: &str,
    options: &graph::Options,
    progress: &dyn Progress,
) -> Result<String, CliError> {
    let allocators = allocators::named(&args.allocator, all, otherwise)?;
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let report = graph::run(&device, &allocators, options, progress)?;
    match args.json {
        true => text::json(&report),
        false => Ok(show::text(&report)),
    }
}
