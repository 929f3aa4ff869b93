//! What iterations of PageRank keep on the device, and what of them does not depend on where the edges are.

use super::reference::PageRank;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Prepared};
use warpheap_applications::Kernels;

/// Lanes that share the work, at most: as many as the largest GPU runs at once.
const SHARE_LANES: u32 = 1 << 18;
/// How many sums one lane adds up to the next.
const FOLD: u32 = 128;
/// Iterations that are queued together.
pub const QUEUED: u32 = 16;

/// Ranks and what becomes of them in an iteration.
pub struct Ranks {
    /// The rank of each vertex.
    pub rank: DeviceVec<f32>,
    /// What a vertex gives to each of its successors.
    pub share: DeviceVec<f32>,
    out_degree: DeviceVec<u32>,
    /// The rank of vertices that no edge leaves, in ever fewer parts; the last one is the sum.
    sums: Vec<DeviceVec<f32>>,
    /// What a vertex has without any predecessor.
    pub start: f32,
    /// The part of what predecessors give that counts.
    pub damping: f32,
    /// A vertex's part of the rank of all vertices that no edge leaves.
    pub spread: f32,
}

impl Ranks {
    /// Before the first iteration, in a graph whose vertices have so many successors.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(
        device: &Device,
        page_rank: PageRank,
        out_degrees: &[u32],
    ) -> Result<Self, DeviceError> {
        let vertices = out_degrees.len();
        let first = page_rank.start() as f32;
        let mut sums = Vec::new();
        let mut parts = page_rank.vertices.min(SHARE_LANES);
        sums.push(DeviceVec::uninit(device, parts as usize)?);
        while parts > 1 {
            parts = parts.div_ceil(FOLD);
            sums.push(DeviceVec::uninit(device, parts as usize)?);
        }
        Ok(Self {
            rank: DeviceVec::from_slice(device, &vec![first; vertices])?,
            share: DeviceVec::uninit(device, vertices)?,
            out_degree: DeviceVec::from_slice(device, out_degrees)?,
            sums,
            start: page_rank.base(0.0) as f32,
            damping: page_rank.damping as f32,
            spread: (page_rank.base(1.0) - page_rank.base(0.0)) as f32,
        })
    }

    /// The first launches of an iteration: what each vertex gives, and what those give that no edge leaves.
    pub fn shares(&self, kernels: &Kernels) -> Vec<Prepared> {
        let shape = |lanes: &DeviceVec<f32>| LaunchConfig::for_num_elems(lanes.len() as u32);
        let parts = &self.sums[0];
        let mut launches = vec![kernels.graph_share_launch(
            shape(parts),
            &self.rank,
            &self.out_degree,
            &self.share,
            parts,
        )];
        for pair in self.sums.windows(2) {
            launches.push(kernels.graph_fold_launch(shape(&pair[1]), &pair[0], &pair[1]));
        }
        launches
    }

    /// One number: what those vertices give that no edge leaves.
    pub fn dangling(&self) -> &DeviceVec<f32> {
        &self.sums[self.sums.len() - 1]
    }
}
