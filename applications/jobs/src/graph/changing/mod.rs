//! The graph that changes: rounds of insertions, then of deletions, in rows that grow and shrink in the heap.
//!
//! | module | what |
//! |---|---|
//! | `batch` | sorted batches of edges |
//! | `expected`, `cpu` | what the CPU makes of them |
//! | `room` | device memory for a batch |
//! | `merge`, `rebuild` | a batch into rows, and into compressed sparse rows written anew |
//! | `compact` | arrays leave nearly empty parts of the heap |
//! | `triangles`, `rank` | how many there are; PageRank |
//! | `search`, `reach` | breadth-first search, by the CPU and by the device |
//! | `connected`, `hook` | connected components, by the CPU and by the device |
//! | `context`, `run` | one run of all steps on a device |
//! | `options`, `ready` | what is asked for; what is made of it before the first run |
//! | [`report`] | what comes of it |

mod batch;
mod compact;
mod connected;
mod context;
mod cpu;
mod expected;
mod hook;
mod merge;
mod options;
mod rank;
mod reach;
mod ready;
mod rebuild;
pub mod report;
mod room;
mod run;
mod search;
mod triangles;

pub use batch::Batch;
pub use connected::Connected;
pub use context::Context;
pub use expected::{Expected, Phase, Ranked, Step};
pub use merge::Times;
pub use options::{Changes, Options, Start};
pub use ready::Ready;
pub(super) use run::run as run_with;
pub use search::Search;

use super::Job;
use crate::allocators::{Allocator, LeftOut};
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::progress::Progress;
use report::{Components, Report, SCHEMA, Searched, Searches};
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
        bfs: searched(expected, context.base),
        components: connected(expected),
        rebuild,
        runs,
        left_out,
    })
}

/// What searches found, for the report.
fn searched(expected: &Expected, base: u32) -> Option<Searches> {
    let source = u64::from(expected.searches.first()?.source) + u64::from(base);
    let of = |(phase, search): (Phase, &Search)| Searched {
        after: phase.name(),
        reached: search.reached,
        depth: search.depth,
        edges: search.edges,
    };
    let after = expected.phases().zip(&expected.searches).map(of).collect();
    Some(Searches { source, after })
}

/// The connected components, for the report.
fn connected(expected: &Expected) -> Vec<Components> {
    let of = |(phase, connected): (Phase, &Connected)| Components {
        after: phase.name(),
        count: connected.count,
        largest: connected.largest,
    };
    expected.phases().zip(&expected.connected).map(of).collect()
}
