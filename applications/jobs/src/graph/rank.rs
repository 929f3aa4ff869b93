//! PageRank on the device, over the vectors in the heap.

use super::context::{Context, run_all};
use super::ranks::{QUEUED, Ranks};
use super::report::Phases;
use crate::error::JobError;
use std::time::Instant;
use warpheap::device::HeapVec;
use warpheap::{DeviceVec, LaunchConfig, Pool, Prepared};
use warpheap_applications::graph::GraphRankEntry;
use warpheap_dist::World;

/// Runs all iterations and returns the ranks of the vertices that were built. Several ranks run them together.
///
/// # Errors
/// Errors of the device; those of [`World::all_gather`].
pub fn rank<A: GraphRankEntry>(
    context: &Context<'_>,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    phases: &mut Phases,
) -> Result<Vec<f32>, JobError> {
    match context.meeting {
        None => alone(context, pool, vertices, phases),
        Some(meeting) => meeting.together(|world| together(context, world, pool, vertices, phases)),
    }
}

/// All vertices are this process's.
fn alone<A: GraphRankEntry>(
    context: &Context<'_>,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    phases: &mut Phases,
) -> Result<Vec<f32>, JobError> {
    let built = context.built;
    let ranks = Ranks::new(context.device, built.page_rank, &built.out_degrees)?;
    let mut left = built.iterations;
    let bar = bar::<A>(context);
    let started = Instant::now();
    while left > 0 {
        let now = left.min(QUEUED);
        let mut launches = Vec::new();
        for _ in 0..now {
            launches.extend(ranks.shares(context.kernels));
            launches.push(of_rows(context, pool, vertices, &ranks, &ranks.rank));
        }
        phases.rank_device += run_all(context, &launches)?;
        left -= now;
        bar.advance(now.into());
    }
    let answer = ranks.rank.to_vec()?;
    phases.rank += started.elapsed();
    Ok(answer)
}

/// Each rank has what all vertices give, as one process has it, and adds up what its own get: so that all is the same bit by bit.
fn together<A: GraphRankEntry>(
    context: &Context<'_>,
    world: &World,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    phases: &mut Phases,
) -> Result<Vec<f32>, JobError> {
    let built = context.built;
    let mut ranks = Ranks::new(context.device, built.page_rank, &built.out_degrees)?;
    let first = vec![built.page_rank.start() as f32; vertices.len()];
    let mine = DeviceVec::from_slice(context.device, &first)?;
    let bar = bar::<A>(context);
    let started = Instant::now();
    for _ in 0..built.iterations {
        let mut launches = ranks.shares(context.kernels);
        if !mine.is_empty() {
            launches.push(of_rows(context, pool, vertices, &ranks, &mine));
        }
        phases.rank_device += run_all(context, &launches)?;
        let computed = Instant::now();
        world.all_gather(context.device, &mine, &mut ranks.rank)?;
        phases.all_gather += computed.elapsed();
        bar.advance(1);
    }
    let answer = mine.to_vec()?;
    phases.rank += started.elapsed();
    Ok(answer)
}

fn bar<A: GraphRankEntry>(context: &Context<'_>) -> Box<dyn crate::progress::Bar> {
    let label = format!("{}: ranking vertices", A::NAME);
    context.progress.bar(label, context.built.iterations.into())
}

/// The last launch of an iteration: the new ranks of the vertices that were built, into `rank`.
fn of_rows<A: GraphRankEntry>(
    context: &Context<'_>,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    ranks: &Ranks,
    rank: &DeviceVec<f32>,
) -> Prepared {
    context.kernels.graph_rank_launch(
        pool,
        LaunchConfig::for_num_elems(context.built.rows()),
        vertices,
        &ranks.share,
        ranks.dangling(),
        rank,
        ranks.start,
        ranks.damping,
        ranks.spread,
    )
}
