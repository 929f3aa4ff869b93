//! PageRank over the rows in the heap.

use super::expected::Ranked;
use super::merge::{Kernels, Rows, run};
use super::room::front;
use crate::graph::ranks::Ranks;
use crate::graph::reference::PageRank;
use crate::pool::Failed;
use std::time::Duration;
use warpheap::DeviceVec;
use warpheap::device::HeapVec;

impl<A: Kernels> Rows<'_, A> {
    /// Ranks the vertices; gives the ranks, and how long that took.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn rank(&self, ranked: &Ranked) -> Result<(Vec<f32>, Duration), Failed> {
        let vertices = self.context.expected.vertices;
        let lengths: Vec<u32> = self.rows.to_vec()?.iter().map(|row| row.len).collect();
        // A row is laid out as a vector, and the kernels change neither.
        let rows: DeviceVec<HeapVec<u32>> = front(&self.buffer, lengths.len())?;
        let mut ranks = Ranks::new(
            self.context.device,
            PageRank::new(vertices),
            ranked.iterations,
            &ranked.out_degrees,
            0..vertices,
            &lengths,
        )?;
        let mut time = Duration::ZERO;
        while ranks.left > 0 {
            let (_, launches) = ranks.several(self.context.kernels, self.pool, &rows);
            time += run(self.context, &launches)?;
        }
        Ok((ranks.next.to_vec()?, time))
    }
}
