//! The graph job: a real graph, built inside kernels that allocate.
//!
//! | module | what |
//! |---|---|
//! | `edges`, [`generate`], [`read`] | graphs: what they are, generated ones, files |
//! | [`input`], `reference` | the graph that is asked for, and the CPU's answers |
//! | `growth`, `pool` | what the vectors ask of a heap, and the pool that is enough |
//! | `allocators` | which allocators there are |
//! | `context`, `batch`, `insert`, `steps`, `rank`, `ranks`, `run` | one run on a device |
//! | [`changing`] | a graph whose edges come and go |
//! | `check` | whether it is right |
//! | [`report`] | what comes of it |

mod allocators;
mod batch;
pub mod changing;
mod check;
mod context;
mod edges;
pub mod generate;
mod growth;
pub mod input;
mod insert;
mod pool;
mod rank;
mod ranks;
pub mod read;
mod reference;
pub mod report;
mod run;
mod steps;

pub use allocators::{Job, all, traced};
pub use context::Context;
pub use edges::EdgeList;
pub use growth::Demand;
pub use reference::{InNeighbours, PageRank};

use crate::allocators::{Allocator, LeftOut};
use crate::device::DeviceReport;
use crate::error::{JobError, within};
use crate::progress::Progress;
use input::{Input, Reference};
use report::{Report, SCHEMA};
use warpheap::Device;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The graph.
    pub input: Input,
    /// Iterations of PageRank.
    pub iterations: u32,
    /// Edges that one launch inserts, one or more.
    pub batch: u32,
    /// Bytes of the pool; what the graph needs if none are given.
    pub pool: Option<u64>,
    /// Bytes that the pool may grow to while the graph is built, by doubling whenever it is full; it has one size if none are given.
    pub grow: Option<u64>,
}

impl Options {
    /// Iterations of PageRank when nobody says how many.
    pub const ITERATIONS: u32 = 20;
    /// Edges of a launch when nobody says how many.
    pub const BATCH: u32 = 1 << 20;
}

impl Default for Options {
    fn default() -> Self {
        Options {
            input: Input::default(),
            iterations: Self::ITERATIONS,
            batch: Self::BATCH,
            pool: None,
            grow: None,
        }
    }
}

/// Builds the graph with each of these allocators, ranks its vertices, and checks both against the CPU.
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
    within("--batch", options.batch, 1..=u32::MAX)?;
    let kernels = warpheap_applications::load(device)?;
    let reference = Reference::new(&options.input, options.iterations)?;
    let context = Context {
        device,
        kernels: &kernels,
        reference: &reference,
        demand: &reference.demand(),
        pool: options.pool,
        grow: options.grow,
        batch: options.batch,
        progress,
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
    Ok(Report {
        schema: SCHEMA,
        device: DeviceReport::from(device),
        graph: reference.report,
        runs,
        left_out,
    })
}
