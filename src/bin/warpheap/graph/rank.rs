//! PageRank on the device, over the vectors in the heap.

use super::report::Phases;
use super::run::{Context, run_all};
use crate::error::CliError;
use std::time::Instant;
use warpheap::device::HeapVec;
use warpheap::{DeviceError, DeviceVec, LaunchConfig, Pool, Prepared};
use warpheap_applications::graph::GraphRankEntry;

/// Lanes that share the work of what does not depend on the vectors, at most.
const SHARE_LANES: u32 = 1 << 14;
/// How many sums one lane adds up to the next.
const FOLD: u32 = 128;
/// Iterations that are queued together.
const QUEUED: u32 = 16;

/// Runs all iterations and returns the ranks.
///
/// # Errors
/// Errors of the device.
pub fn rank<A: GraphRankEntry>(
    context: &Context<'_>,
    pool: &Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    phases: &mut Phases,
) -> Result<Vec<f32>, CliError> {
    let reference = context.reference;
    let ranks = Ranks::new(context, reference.list.vertices)?;
    let mut left = reference.iterations;
    let bar = context
        .progress
        .bar(format!("{}: ranking vertices", A::NAME), left.into());
    let started = Instant::now();
    while left > 0 {
        let now = left.min(QUEUED);
        let mut launches = Vec::new();
        for _ in 0..now {
            ranks.iteration(context, pool, vertices, &mut launches);
        }
        phases.rank_device += run_all(context, &launches)?;
        left -= now;
        bar.advance(now.into());
    }
    let answer = ranks.rank.to_vec()?;
    phases.rank += started.elapsed();
    Ok(answer)
}

/// What the iterations keep on the device.
struct Ranks {
    rank: DeviceVec<f32>,
    share: DeviceVec<f32>,
    out_degree: DeviceVec<u32>,
    /// The rank of vertices that no edge leaves, in ever fewer parts; the last one is the sum.
    sums: Vec<DeviceVec<f32>>,
}

impl Ranks {
    fn new(context: &Context<'_>, vertices: u32) -> Result<Self, DeviceError> {
        let device = context.device;
        let start = context.reference.page_rank.start() as f32;
        let mut sums = Vec::new();
        let mut parts = vertices.min(SHARE_LANES);
        sums.push(DeviceVec::uninit(device, parts as usize)?);
        while parts > 1 {
            parts = parts.div_ceil(FOLD);
            sums.push(DeviceVec::uninit(device, parts as usize)?);
        }
        Ok(Self {
            rank: DeviceVec::from_slice(device, &vec![start; vertices as usize])?,
            share: DeviceVec::uninit(device, vertices as usize)?,
            out_degree: DeviceVec::from_slice(device, &context.reference.out_degrees)?,
            sums,
        })
    }

    fn iteration<A: GraphRankEntry>(
        &self,
        context: &Context<'_>,
        pool: &Pool<A>,
        vertices: &DeviceVec<HeapVec<u32>>,
        launches: &mut Vec<Prepared>,
    ) {
        let kernels = context.kernels;
        let page_rank = &context.reference.page_rank;
        let shape = |lanes: &DeviceVec<f32>| LaunchConfig::for_num_elems(lanes.len() as u32);
        let parts = &self.sums[0];
        launches.push(kernels.graph_share_launch(
            shape(parts),
            &self.rank,
            &self.out_degree,
            &self.share,
            parts,
        ));
        for pair in self.sums.windows(2) {
            launches.push(kernels.graph_fold_launch(shape(&pair[1]), &pair[0], &pair[1]));
        }
        launches.push(kernels.graph_rank_launch(
            pool,
            shape(&self.rank),
            vertices,
            &self.share,
            &self.sums[self.sums.len() - 1],
            &self.rank,
            page_rank.base(0.0) as f32,
            page_rank.damping as f32,
            (page_rank.base(1.0) - page_rank.base(0.0)) as f32,
        ));
    }
}
