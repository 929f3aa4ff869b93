//! Connected components of the rows in the heap.

use super::merge::{Kernels, Rows, lanes, run};
use crate::pool::Failed;
use std::time::Duration;
use warpheap::{DeviceVec, LaunchConfig};

impl<A: Kernels> Rows<'_, A> {
    /// Finds the smallest vertex of each vertex's component; gives these, and how long that took.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn components(&self) -> Result<(Vec<u32>, Duration), Failed> {
        let kernels = self.context.kernels;
        let vertices = self.context.expected.vertices;
        let on = self.room.everything(vertices)?;
        let parents = DeviceVec::<u32>::uninit(self.context.device, vertices as usize)?;
        let each = LaunchConfig::for_num_elems(vertices);
        let mut launches = self.tiles(&on)?;
        launches.push(kernels.rows_parents_launch(self.pool, each, &self.rows, &parents));
        launches.push(kernels.parents_jump_launch(each, &parents));
        launches.push(kernels.rows_hook_launch(
            self.pool,
            lanes(self.context),
            &self.rows,
            &on.segments,
            &on.tiles,
            &parents,
        ));
        launches.push(kernels.parents_jump_launch(each, &parents));
        let time = run(self.context, &launches)?;
        Ok((parents.to_vec()?, time))
    }
}
