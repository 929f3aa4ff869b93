//! What is made before the first run.

use super::context::Context;
use super::expected::Expected;
use super::options::{Changes, Options, Start};
use crate::error::{JobError, within};
use crate::graph::input;
use crate::graph::report::GraphReport;
use crate::progress::Progress;
use warpheap::Device;
use warpheap_applications::Kernels;

/// A graph and its changes, ready for any allocator.
pub struct Ready {
    device: Device,
    kernels: Kernels,
    /// What the CPU makes of the changes.
    pub expected: Expected,
    /// The graph before them.
    pub graph: GraphReport,
    pool: Option<u64>,
    base: u32,
    compact: u32,
    compact_every: u32,
    triangles: bool,
}

impl Ready {
    /// Reads or generates the graph, and changes it on the CPU.
    ///
    /// # Errors
    /// Settings that make no sense, a bad file, a device that fails.
    pub fn new(
        device: &Device,
        options: &Options,
        progress: &dyn Progress,
    ) -> Result<Self, JobError> {
        let kernels = warpheap_applications::load(device)?;
        let changes = &options.changes;
        within("--updates", changes.updates, 1..=Changes::MOST_UPDATES)?;
        within("--focus", changes.focus.unwrap_or(1), 1..=u32::MAX)?;
        within("--compact-every", changes.compact_every, 1..=u32::MAX)?;
        let (mut list, source, load) = options.input.edges()?;
        if changes.triangles {
            let opposite: Vec<[u32; 2]> = list.edges.iter().map(|[a, b]| [*b, *a]).collect();
            list.edges.extend(opposite);
        }
        list.make_simple();
        let start = changes
            .bfs
            .map(|start| begin(start, list.base, list.vertices));
        let start = start.transpose()?;
        let graph = input::described(&list, source, load);
        let mut expected = Expected::new(&list, changes, progress);
        if changes.page_rank {
            expected.rank(changes.iterations, progress);
        }
        if let Some(start) = start {
            expected.search(start, progress);
        }
        if changes.components {
            expected.connect(progress);
        }
        Ok(Ready {
            device: device.clone(),
            kernels,
            expected,
            graph,
            pool: options.pool,
            base: list.base,
            compact: changes.compact,
            compact_every: changes.compact_every,
            triangles: changes.triangles,
        })
    }

    /// What a run works with.
    pub fn context<'a>(&'a self, progress: &'a dyn Progress) -> Context<'a> {
        Context {
            device: &self.device,
            kernels: &self.kernels,
            expected: &self.expected,
            pool: self.pool,
            base: self.base,
            compact: self.compact,
            compact_every: self.compact_every,
            triangles: self.triangles,
            progress,
        }
    }
}

/// The vertex that a search begins at, if it is named, counted from 0.
fn begin(start: Start, base: u32, vertices: u32) -> Result<Option<u32>, JobError> {
    let Start::Vertex(vertex) = start else {
        return Ok(None);
    };
    let (first, behind) = (u64::from(base), u64::from(base) + u64::from(vertices));
    within("--bfs", u64::from(vertex), first..=behind.saturating_sub(1))?;
    Ok(Some(vertex - base))
}
