//! One run of the graph job: one allocator on one device.

use super::check::{self, Mismatch};
use super::context::Context;
use super::insert::insert;
use super::pool::need;
use super::rank::rank;
use super::ranks;
use super::reference::InNeighbours;
use super::report::{self, Phases, Run, checksum, top};
use super::steps::Steps;
use crate::clock::Clock;
use crate::error::JobError;
use crate::pool::Failed;
use crate::progress::kept;
use std::time::Instant;
use warpheap::device::HeapVec;
use warpheap::{DeviceError, DeviceVec, LaunchConfig, Pool, vector_lengths};
use warpheap_applications::graph::{GraphCollectEntry, GraphFreeEntry, GraphInsertEntry};

/// Runs the job with the allocator `A`.
///
/// # Errors
/// The pool is too small or cannot be had, the device fails, or its answer is wrong.
pub fn run<A>(context: &Context<'_>) -> Result<Run, JobError>
where
    A: GraphInsertEntry + ranks::Kernels + GraphCollectEntry + GraphFreeEntry,
{
    let need = need::<A>(context.device.info(), context.demand);
    Ok(need.tried(context.pool, |bytes| attempt::<A>(context, bytes))?)
}

fn attempt<A>(context: &Context<'_>, bytes: u64) -> Result<Run, Failed>
where
    A: GraphInsertEntry + ranks::Kernels + GraphCollectEntry + GraphFreeEntry,
{
    let pool = match context.grow {
        Some(most) => context.device.reserve_growing::<A>(bytes, most),
        None => context.device.reserve::<A>(bytes),
    };
    let mut pool = pool.map_err(Failed::NoPool)?;
    let done = in_pool(context, &mut pool);
    let ended = context.progress.heap_ends(pool.raw());
    // What failed says more than that there is no trace of it.
    let run = done?;
    ended?;
    Ok(run)
}

/// Builds the graph in this pool, which is empty again afterwards.
fn in_pool<A>(context: &Context<'_>, pool: &mut Pool<A>) -> Result<Run, Failed>
where
    A: GraphInsertEntry + ranks::Kernels + GraphCollectEntry + GraphFreeEntry,
{
    let built = context.built;
    let count = built.rows();
    let mut vertices = DeviceVec::<HeapVec<u32>>::zeroed(context.device, count as usize)?;
    let mut phases = Phases::default();

    let mut steps = Steps::new(context);
    let inserted = insert(context, pool, &vertices, &mut steps, &mut phases);
    let batches = kept(context.progress, pool, "insertion failed", inserted);
    let batches = batches.map_err(|failed| failed.told_by(pool))?;
    let grown = pool.stats()?;
    let ranks = rank(context, pool, &vertices, &mut phases)?;
    let lengths: Vec<u32> = vector_lengths(&vertices)?;
    let names = built.names();
    let wrong = |mismatch: Mismatch| JobError::Wrong {
        allocator: A::NAME,
        backend: context.device.info().backend.to_string(),
        what: mismatch.to_string(),
    };
    // Before the vectors are copied to places that these lengths decide.
    check::degrees(&built.in_degrees, &lengths, names).map_err(wrong)?;
    let expected = built.expected.as_ref();
    let collected = expected.map(|expected| {
        let neighbours = collect(context, pool, &vertices, &expected.rows, &mut phases);
        neighbours.map(|neighbours| (expected, neighbours))
    });
    let collected = collected.transpose()?;

    let started = Clock::start(context.device);
    let shape = LaunchConfig::for_num_elems(count);
    let report = context.kernels.graph_free(pool, shape, &mut vertices)?;
    phases.free += started.elapsed();
    phases.free_device += report.device_time;
    let freed = pool.stats()?;
    context.progress.snapshots().always(pool, "all freed")?;

    let started = Instant::now();
    let mut rank_error = None;
    if let Some((expected, mut neighbours)) = collected {
        check::neighbours(&expected.rows, &mut neighbours, names).map_err(wrong)?;
        rank_error = Some(check::ranks(&expected.ranks, &ranks, names).map_err(wrong)?);
    }
    check::heap(context.demand, &grown, &freed).map_err(wrong)?;
    phases.check += started.elapsed();

    let (live, used) = (grown.live_bytes(), grown.usage.committed_bytes);
    Ok(Run {
        allocator: A::NAME,
        pool_bytes: pool.bytes(),
        steps: steps.done,
        batch_edges: context.batch,
        batches,
        mallocs: freed.mallocs,
        frees: freed.frees,
        bytes_live: live,
        bytes_used: used,
        utilisation: Run::utilisation(live, used),
        iterations: built.iterations,
        rank_error,
        rank_sum: ranks.iter().map(|rank| f64::from(*rank)).sum(),
        checksum: checksum(&ranks, built.vertices.start),
        phases,
        top: top(&ranks, &built.in_degrees, names, report::TOP),
    })
}

/// Copies every vector out of the heap, row after row as in the reference.
fn collect<A: GraphCollectEntry>(
    context: &Context<'_>,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    rows: &InNeighbours,
    phases: &mut Phases,
) -> Result<Vec<u32>, DeviceError> {
    let started = Clock::start(context.device);
    let offsets = DeviceVec::from_slice(context.device, &rows.offsets)?;
    let out = DeviceVec::<u32>::zeroed(context.device, rows.sources.len())?;
    let shape = LaunchConfig::for_num_elems(rows.vertices());
    context
        .kernels
        .graph_collect(pool, shape, vertices, &offsets, &out)?;
    let neighbours = out.to_vec()?;
    phases.collect += started.elapsed();
    Ok(neighbours)
}
