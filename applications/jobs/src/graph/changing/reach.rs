//! Breadth-first search over the rows in the heap.

use super::merge::{Kernels, Rows, lanes, run};
use super::room::front;
use crate::pool::Failed;
use std::time::Duration;
use warpheap::{DeviceVec, LaunchConfig};
use warpheap_applications::rows::TEAM;

/// What a search on the device found.
pub struct Reached {
    /// The level of each vertex.
    pub levels: Vec<u32>,
    /// Vertices that it reached, as it counted.
    pub count: u32,
    /// How long it took on the device.
    pub time: Duration,
}

impl<A: Kernels> Rows<'_, A> {
    /// Searches from `source`, a vertex of the graph. The host reads after each level how many vertices are reached.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn reach(&self, source: u32) -> Result<Reached, Failed> {
        let (device, kernels) = (self.context.device, self.context.kernels);
        let vertices = self.context.expected.vertices;
        let words = |count: u32| device.alloc(u64::from(count) * 4);
        let order = DeviceVec::<u32>::uninit(device, vertices as usize)?;
        let numbers = words(vertices + 2)?;
        let levels: DeviceVec<u32> = front(&numbers, vertices as usize + 2)?;
        // The tiles of a frontier, and of the next.
        let mut tiles = [words(vertices + 1)?, words(vertices + 1)?];
        let mut launches = vec![kernels.reach_begin_launch(
            LaunchConfig::for_num_elems(vertices + 1),
            &self.rows,
            &order,
            &front(&tiles[0], 1)?,
            &levels,
            source,
        )];
        let mut time = Duration::ZERO;
        let (mut begin, mut end) = (0, 1);
        let mut shape = lanes(self.context);
        let most = shape.grid_dim * shape.block_dim;
        let mut passed = 0;
        while begin < end {
            // One more, for their sum. It holds anything before: what lies behind a value adds nothing to it.
            let now: DeviceVec<u32> = front(&tiles[0], (end - begin) as usize + 1)?;
            let next: DeviceVec<u32> = front(&tiles[1], vertices as usize + 1)?;
            launches.extend(self.room.sums.launches(kernels, &now)?);
            launches.push(kernels.rows_reach_launch(
                self.pool, shape, &self.rows, &order, &now, &next, &levels, begin,
            ));
            time += run(self.context, &launches)?;
            launches.clear();
            let mut sums = [[0; 4]; 2];
            numbers.read(4 * u64::from(vertices), sums.as_flattened_mut())?;
            let [reached, all] = sums.map(u32::from_ne_bytes);
            // No vertex is reached twice, unless the device is wrong.
            (begin, end) = (end, reached.min(vertices));
            tiles.swap(0, 1);
            // A small frontier needs few lanes.
            let teams = all.saturating_sub(passed);
            shape = LaunchConfig::for_num_elems(teams.saturating_mul(TEAM).clamp(1, most));
            passed = all;
        }
        let mut levels = levels.to_vec()?;
        levels.truncate(vertices as usize);
        Ok(Reached {
            levels,
            count: end,
            time,
        })
    }
}
