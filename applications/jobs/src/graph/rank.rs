//! PageRank on the device, over the vectors in the heap.

use super::context::{Context, run_all};
use super::ranks::{QUEUED, Ranks};
use super::report::Phases;
use crate::error::JobError;
use std::time::Instant;
use warpheap::device::HeapVec;
use warpheap::{DeviceVec, LaunchConfig, Pool};
use warpheap_applications::graph::GraphRankEntry;

/// Runs all iterations and returns the ranks.
///
/// # Errors
/// Errors of the device.
pub fn rank<A: GraphRankEntry>(
    context: &Context<'_>,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    phases: &mut Phases,
) -> Result<Vec<f32>, JobError> {
    let reference = context.reference;
    let page_rank = &reference.page_rank;
    let ranks = Ranks::new(context.device, *page_rank, &reference.out_degrees)?;
    let shape = LaunchConfig::for_num_elems(reference.list.vertices);
    let mut left = reference.iterations;
    let bar = context
        .progress
        .bar(format!("{}: ranking vertices", A::NAME), left.into());
    let started = Instant::now();
    while left > 0 {
        let now = left.min(QUEUED);
        let mut launches = Vec::new();
        for _ in 0..now {
            launches.extend(ranks.shares(context.kernels));
            launches.push(context.kernels.graph_rank_launch(
                pool,
                shape,
                vertices,
                &ranks.share,
                ranks.dangling(),
                &ranks.rank,
                ranks.start,
                ranks.damping,
                ranks.spread,
            ));
        }
        phases.rank_device += run_all(context, &launches)?;
        left -= now;
        bar.advance(now.into());
    }
    let answer = ranks.rank.to_vec()?;
    phases.rank += started.elapsed();
    Ok(answer)
}
