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
//! | `report`, `show` | what is printed and drawn |
//! | `job` | all runs that a user asked for |

mod batch;
mod context;
mod cpu;
mod expected;
pub mod job;
mod merge;
mod rank;
mod rebuild;
mod report;
mod room;
mod run;
mod show;
mod sums;
mod triangles;

use super::input;
use super::report::GraphReport;
use crate::error::CliError;
use crate::graph::args::GraphArgs;
use crate::progress::Progress;
pub use context::Context;
use expected::Expected;
pub use merge::Times;
pub use report::{Footprint, Run};
pub use run::run;
use warpheap::Device;
use warpheap_applications::Kernels;

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
            snapshots: &crate::heap_map::NONE,
            progress: Progress::detect(),
        }
    }
}
