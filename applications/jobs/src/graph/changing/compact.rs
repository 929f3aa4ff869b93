//! Compacting the heap between batches.

use super::merge::{Kernels, Rows, Times, lanes};
use crate::pool::Failed;
use warpheap::{DeviceVec, LaunchConfig};

impl<A: Kernels> Rows<'_, A> {
    /// Lets arrays leave the regions of the heap that are less than `percent` in use; gives how long that took.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn compact(&self, percent: u32) -> Result<Times, Failed> {
        let (context, kernels) = (self.context, self.context.kernels);
        let mut times = Times::default();
        if percent == 0 || !A::COMPACTS {
            return Ok(times);
        }
        let marked = DeviceVec::<u32>::zeroed(context.device, 1)?;
        let all = LaunchConfig::for_num_elems(context.expected.vertices);
        let shares = lanes(context);
        times.heap +=
            self.run(&[kernels.rows_compact_launch(self.pool, shares, &marked, percent)])?;
        let mut rest = Vec::new();
        if marked.to_vec()? != [0] {
            rest.push(kernels.rows_relocate_launch(self.pool, all, &self.rows));
        }
        rest.push(kernels.rows_compacted_launch(self.pool, shares));
        times.heap += self.run(&rest)?;
        times.all = times.heap;
        Ok(times)
    }
}
