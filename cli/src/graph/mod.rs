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
use crate::progress::Bars;
use crate::text;
use args::{GraphArgs, JobArgs};
use warpheap_jobs::allocators::{self, DEFAULT};
use warpheap_jobs::device;
use warpheap_jobs::graph;

/// The command without a name: a generated graph with every allocator.
///
/// # Errors
/// As [`one`].
pub fn table(args: &JobArgs) -> Result<String, CliError> {
    build(args, "all", &args.options(args.input()))
}

/// The command `graph`: a graph, by default with the one allocator that a user would take.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly.
pub fn one(args: &GraphArgs) -> Result<String, CliError> {
    match args.changes.asked() {
        true => changing::run(args),
        false => build(&args.job, DEFAULT, &args.job.options(args.input()?)),
    }
}

/// Opens the device before the graph is made: a wrong name should not wait for a large file.
fn build(args: &JobArgs, otherwise: &str, options: &graph::Options) -> Result<String, CliError> {
    let allocators = allocators::named(&args.allocator, &graph::all(), otherwise)?;
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let report = graph::run(&device, &allocators, options, &Bars::detect())?;
    match args.json {
        true => text::json(&report),
        false => Ok(show::text(&report)),
    }
}
