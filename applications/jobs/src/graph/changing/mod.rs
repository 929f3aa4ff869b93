//! The graph that changes: rounds of insertions, then of deletions, in rows that grow and shrink in the heap.
//!
//! | module | what |
//! |---|---|
//! | `batch` | sorted batches of edges |
//! | `expected`, `cpu` | what the CPU makes of them |
//! | `room`, `sums` | device memory for a batch; prefix sums |
//! | `merge`, `rebuild` | a batch into rows, and into compressed sparse rows written anew |
//! | `triangles`, `rank` | how many there are; PageRank |
//! | `context`, `run` | one run of all steps on a device |
//! | `options`, `ready` | what is asked for; what is made of it before the first run |
//! | [`report`] | what comes of it |

mod batch;
mod context;
mod cpu;
mod expected;
mod merge;
mod options;
mod rank;
mod ready;
mod rebuild;
pub mod report;
mod room;
mod run;
mod sums;
mod triangles;

pub use batch::Batch;
pub use context::Context;
pub use expected::{Expected, Phase, Ranked, Step};
pub use merge::Times;
pub use options::{Changes, Options};
pub use ready::Ready;
pub(super) use run::run as run_with;

use super::Job;
use crate::allocators::{Allocator, LeftOut};
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::progress::Progress;
use report::{Report, SCHEMA};
use warpheap::Device;

/// Changes the graph with each of these allocators, checks it against the CPU, and does the same with compressed sparse rows.
///
/// # Errors
/// Settings that make no sense, a bad file, a device that fails or answers wrongly; an allocator that was asked for by name
/// and cannot do it.
pub fn run(
    device: &Device,
    allocators: &[Allocator<Job>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report, JobError> {
    let ready = Ready::new(device, options, progress)?;
    let (context, expected) = (ready.context(progress), &ready.expected);
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
    let changes = &options.changes;
    Ok(Report {
        schema: SCHEMA,
        device: DeviceReport::from(device),
        graph: ready.graph.clone(),
        rounds: changes.rounds,
        updates: changes.updates,
        focus: changes.focus,
        inserted: expected.changed(Phase::Insert),
        deleted: expected.changed(Phase::Delete),
        triangles: expected.triangles,
        page_rank: changes.page_rank,
        rebuild,
        runs,
        left_out,
    })
}
