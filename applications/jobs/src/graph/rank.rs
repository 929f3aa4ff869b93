//! PageRank on the device, over the vectors in the heap.

use super::context::{Context, run_all};
use super::ranks::{Kernels, Ranks};
use super::report::Phases;
use crate::clock::Clock;
use crate::error::JobError;
use std::time::Instant;
use warpheap::device::HeapVec;
use warpheap::{DeviceError, DeviceVec, Pool};
use warpheap_dist::World;

/// Runs all iterations and returns the ranks of the vertices that were built. Several ranks run them together.
///
/// # Errors
/// Errors of the device; those of [`World::all_gather`].
pub fn rank<A: Kernels>(
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
fn alone<A: Kernels>(
    context: &Context<'_>,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    phases: &mut Phases,
) -> Result<Vec<f32>, JobError> {
    let mut ranks = before(context)?;
    let bar = bar::<A>(context);
    let started = Clock::start(context.device);
    while ranks.left > 0 {
        let (now, launches) = ranks.several(context.kernels, pool, vertices);
        phases.rank_device += run_all(context, &launches)?;
        bar.advance(now.into());
    }
    let answer = ranks.next.to_vec()?;
    phases.rank += started.elapsed();
    Ok(answer)
}

/// Each rank has what all vertices give, and adds up what its own get, as one process does: so that all is the same bit by bit.
fn together<A: Kernels>(
    context: &Context<'_>,
    world: &World,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    phases: &mut Phases,
) -> Result<Vec<f32>, JobError> {
    let mut ranks = before(context)?;
    let bar = bar::<A>(context);
    let started = Clock::start(context.device);
    while ranks.left > 0 {
        let launches = ranks.iteration(context.kernels, pool, vertices);
        phases.rank_device += run_all(context, &launches)?;
        // Nobody needs the ranks of others, which the last iteration ends with.
        if ranks.left > 0 {
            let computed = Instant::now();
            world.all_gather(context.device, &ranks.next, &mut ranks.given)?;
            phases.all_gather += computed.elapsed();
        }
        bar.advance(1);
    }
    let answer = ranks.next.to_vec()?;
    phases.rank += started.elapsed();
    Ok(answer)
}

/// Before the first iteration.
fn before(context: &Context<'_>) -> Result<Ranks, DeviceError> {
    let built = context.built;
    Ranks::new(
        context.device,
        built.page_rank,
        built.iterations,
        &built.out_degrees,
        built.vertices.clone(),
        &built.in_degrees,
    )
}

fn bar<A: Kernels>(context: &Context<'_>) -> Box<dyn crate::progress::Bar> {
    let label = format!("{}: ranking vertices", A::NAME);
    context.progress.bar(label, context.built.iterations.into())
}
