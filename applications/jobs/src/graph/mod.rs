//! The graph job: a real graph, built inside kernels that allocate.
//!
//! | module | what |
//! |---|---|
//! | `edges`, [`generate`], [`read`] | graphs: what they are, generated ones, files |
//! | [`input`], `reference` | the graph that is asked for, and the CPU's answers |
//! | `growth`, `pool` | what the vectors ask of a heap, and the pool that is enough |
//! | `built` | what a run builds, with all that it is measured against |
//! | `allocators` | which allocators there are |
//! | `context`, `batch`, `insert`, `steps`, `rank`, `ranks`, `long`, `run` | one run on a device |
//! | [`changing`] | a graph whose edges come and go |
//! | `check` | whether it is right |
//! | [`report`] | what comes of it |
//! | [`parts`] | the same by several processes |

mod allocators;
mod batch;
mod built;
pub mod changing;
mod check;
mod context;
mod edges;
pub mod generate;
mod growth;
pub mod input;
mod insert;
mod long;
pub mod parts;
mod pool;
mod rank;
mod ranks;
pub mod read;
mod reference;
pub mod report;
mod run;
mod steps;

pub use allocators::{Job, all, traced};
pub use built::{Built, Expected};
pub use context::Context;
pub use edges::EdgeList;
pub use growth::Demand;
pub use reference::{InNeighbours, PageRank};

use crate::allocators::{Allocator, LeftOut};
use crate::device::DeviceReport;
use crate::error::{JobError, within};
use crate::progress::Progress;
use check::Mismatch;
use input::Input;
use report::{Report, Run, SCHEMA};
use warpheap::Device;
use warpheap_applications::Kernels;

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
    /// Whether neighbours and ranks are held against the CPU's. If not, numbers of neighbours are compared, what the heap counts, and
    /// the sum of all ranks.
    pub checked: bool,
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
            checked: true,
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
    let kernels = loaded(device, options)?;
    let (built, graph) = Built::whole(&options.input, options.iterations, options.checked)?;
    let context = Context {
        device,
        kernels: &kernels,
        built: &built,
        demand: &built.demand(),
        meeting: None,
        pool: options.pool,
        grow: options.grow,
        batch: options.batch,
        progress,
    };
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    for allocator in allocators {
        match fits(allocator, context.demand)? {
            Ok(()) => {
                let run = (allocator.job.run)(&context)?;
                check_sum(&run, device)?;
                runs.push(run);
            }
            Err(error) => left_out.push(LeftOut::new(allocator.name, &error)),
        }
    }
    Ok(Report {
        schema: SCHEMA,
        device: DeviceReport::from(device),
        graph,
        runs,
        left_out,
        checked: options.checked,
        ranks: Vec::new(),
        carrier: None,
    })
}

/// Checks the settings, and loads the kernels.
fn loaded(device: &Device, options: &Options) -> Result<Kernels, JobError> {
    within("--batch", options.batch, 1..=u32::MAX)?;
    Ok(warpheap_applications::load(device)?)
}

/// Why an allocator cannot do it, if it cannot: an error if the user named it.
fn fits(allocator: &Allocator<Job>, demand: &Demand) -> Result<Result<(), JobError>, JobError> {
    match (allocator.job.fits)(demand) {
        Err(error) if allocator.by_name => Err(error),
        fits => Ok(fits),
    }
}

/// Checks that the ranks of a run add up.
fn check_sum(run: &Run, device: &Device) -> Result<(), JobError> {
    check::sum(run.rank_sum).map_err(|mismatch: Mismatch| JobError::Wrong {
        allocator: run.allocator,
        backend: device.info().backend.to_string(),
        what: mismatch.to_string(),
    })
}
