//! The graph that changes: rounds of insertions, then of deletions, in rows that grow and shrink in the heap.
//!
//! | module | what |
//! |---|---|
//! | `batch` | sorted batches of edges |
//! | `expected`, `cpu` | what the CPU makes of them |
//! | `room`, `sums` | device memory for a batch; prefix sums |
//! | `merge`, `rebuild` | a batch into rows, and into compressed sparse rows written anew |
//! | `triangles`, `rank` | how many there are; PageRank |
//! | `run` | one run of all steps on a device |
//! | `report`, `show` | what is printed and drawn |

mod batch;
mod cpu;
mod expected;
mod merge;
mod rank;
mod rebuild;
mod report;
mod room;
mod run;
mod show;
mod sums;
mod triangles;

use super::allocators;
use super::input;
use crate::allocators::{self as named, LeftOut};
use crate::args::GraphArgs;
use crate::device::DeviceReport;
use crate::error::CliError;
use crate::progress::Progress;
use expected::Expected;
pub use report::Run;
use report::{Report, SCHEMA};
pub use run::{Context, run};
use warpheap::Device;

/// Runs the job.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly, a plot that cannot be written.
pub fn job(args: &GraphArgs) -> Result<String, CliError> {
    crate::plot::check(args.changes.plot.as_deref())?;
    let job = &args.job;
    let allocators = named::named(&job.allocator, &allocators::all(), named::DEFAULT)?;
    let device = Device::open_named(job.backend.as_deref(), job.device.as_deref())?;
    let kernels = warpheap_applications::load(&device)?;
    let (mut list, source, load) = input::edges(args)?;
    if args.changes.triangles {
        let opposite: Vec<[u32; 2]> = list.edges.iter().map(|[a, b]| [*b, *a]).collect();
        list.edges.extend(opposite);
    }
    list.make_simple();
    let graph = input::described(&list, source, load);
    let progress = Progress::detect();
    let mut expected = Expected::new(&list, &args.changes, job.seed, progress);
    if args.changes.page_rank {
        expected.rank(job.iterations, progress);
    }
    let base = list.base;
    drop(list);
    let context = Context {
        device: &device,
        kernels: &kernels,
        expected: &expected,
        pool: job.pool,
        base,
        triangles: args.changes.triangles,
        progress,
    };
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
        graph,
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
