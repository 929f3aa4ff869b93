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
use super::report::GraphReport;
use crate::allocators::{self as named, LeftOut};
use crate::args::GraphArgs;
use crate::device::{self, DeviceReport};
use crate::error::CliError;
use crate::progress::Progress;
use expected::Expected;
pub use merge::Times;
pub use report::{Footprint, Run};
use report::{Report, SCHEMA};
pub use run::{Context, run};
use warpheap::Device;
use warpheap_applications::Kernels;

/// Runs the job.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly, a plot that cannot be written.
pub fn job(args: &GraphArgs) -> Result<String, CliError> {
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

/// A graph and its changes, ready for any allocator.
pub struct Ready {
    device: Device,
    kernels: Kernels,
    /// What the CPU makes of the changes.
    pub expected: Expected,
    pool: Option<u64>,
    base: u32,
    triangles: bool,
    graph: GraphReport,
}

impl Ready {
    /// Reads or generates the graph, and changes it on the CPU.
    ///
    /// # Errors
    /// Options that make no sense, a bad file, a device that fails.
    pub fn new(device: &Device, args: &GraphArgs) -> Result<Self, CliError> {
        let kernels = warpheap_applications::load(device)?;
        let (mut list, source, load) = input::edges(args)?;
        if args.changes.triangles {
            let opposite: Vec<[u32; 2]> = list.edges.iter().map(|[a, b]| [*b, *a]).collect();
            list.edges.extend(opposite);
        }
        list.make_simple();
        let graph = input::described(&list, source, load);
        let progress = Progress::detect();
        let mut expected = Expected::new(&list, &args.changes, args.job.seed, progress);
        if args.changes.page_rank {
            expected.rank(args.job.iterations, progress);
        }
        Ok(Ready {
            device: device.clone(),
            kernels,
            expected,
            pool: args.job.pool,
            base: list.base,
            triangles: args.changes.triangles,
            graph,
        })
    }

    /// What a run works with.
    pub fn context(&self) -> Context<'_> {
        Context {
            device: &self.device,
            kernels: &self.kernels,
            expected: &self.expected,
            pool: self.pool,
            base: self.base,
            triangles: self.triangles,
            progress: Progress::detect(),
        }
    }
}
