//! PageRank over the rows in the heap.

use super::expected::Ranked;
use super::merge::{Kernels, Rows, lanes, run};
use crate::graph::ranks::{QUEUED, Ranks};
use crate::graph::reference::PageRank;
use crate::pool::Failed;
use std::time::Duration;
use warpheap::{DeviceVec, LaunchConfig};

impl<A: Kernels> Rows<'_, A> {
    /// Ranks the vertices; gives the ranks, and how long that took.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn rank(&self, ranked: &Ranked) -> Result<(Vec<f32>, Duration), Failed> {
        let (device, kernels) = (self.context.device, self.context.kernels);
        let vertices = self.context.expected.vertices;
        let on = self.room.everything(vertices)?;
        let mut time = run(self.context, &self.tiles(&on)?)?;
        let tiles = on.tiles.to_vec()?.last().copied().unwrap_or(0);
        let parts = DeviceVec::<f32>::uninit(device, tiles as usize)?;
        let ranks = Ranks::new(device, PageRank::new(vertices), &ranked.out_degrees)?;
        let mut left = ranked.iterations;
        while left > 0 {
            let now = left.min(QUEUED);
            let mut launches = Vec::new();
            for _ in 0..now {
                launches.extend(ranks.shares(kernels));
                launches.push(kernels.rows_gather_launch(
                    self.pool,
                    lanes(self.context),
                    &self.rows,
                    &on.segments,
                    &on.tiles,
                    &ranks.share,
                    &parts,
                ));
                launches.push(kernels.rows_rank_launch(
                    LaunchConfig::for_num_elems(vertices),
                    &on.tiles,
                    &parts,
                    ranks.dangling(),
                    &ranks.rank,
                    ranks.start,
                    ranks.damping,
                    ranks.spread,
                ));
            }
            time += run(self.context, &launches)?;
            left -= now;
        }
        Ok((ranks.rank.to_vec()?, time))
    }
}
