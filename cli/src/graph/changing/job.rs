//! The runs with all allocators that a user asked for, and what is said of them.

use super::report::{Report, SCHEMA};
use super::{Ready, expected, rebuild};
use crate::allocators::{self as named, LeftOut};
use crate::device::{self, DeviceReport};
use crate::error::CliError;
use crate::graph::allocators;
use crate::graph::args::GraphArgs;

/// Runs the job.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly, a plot that cannot be written.
pub fn job(args: &GraphArgs) -> Result<String, CliError> {
    if args.job.grow.is_some() {
        return Err(CliError::Usage(
            "--grow is for a graph that is built: leave out --rounds, --triangles and --page-rank"
                .to_owned(),
        ));
    }
    crate::plot::check(args.changes.plot.as_deref())?;
    let job = &args.job;
    let allocators = named::named(&job.allocator, &allocators::all(), named::DEFAULT)?;
    let device = device::open(job.backend.as_deref(), job.device.as_deref())?;
    let ready = Ready::new(&device, args)?;
    let (context, expected) = (ready.context(), &ready.expected);
    let rebuild = rebuild::run(&context)?;
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    for allocator in allocators {
        match (allocator.job.fits)(&expected.demand) {
            Ok(()) => runs.push((allocator.job.change)(&context)?),
            Err(error) if allocator.by_name => return Err(error),
            Err(error) => left_out.push(LeftOut::new(allocator.name, &error)),
        }
    }
    let report = Report {
        schema: SCHEMA,
        device: DeviceReport::from(&device),
        graph: ready.graph.clone(),
        rounds: args.changes.rounds,
        updates: args.changes.updates,
        focus: args.changes.focus,
        inserted: expected.changed(expected::Phase::Insert),
        deleted: expected.changed(expected::Phase::Delete),
        triangles: expected.triangles,
        page_rank: args.changes.page_rank,
        rebuild,
        runs,
        left_out,
    };
    if let Some(path) = &args.changes.plot {
        report.plot(path)?;
    }
    match job.json {
        true => crate::text::json(&report),
        false => Ok(report.text()),
    }
}
