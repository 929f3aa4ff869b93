//! The first two stages: both tables in order by partition, and the hash table of the left one.

use super::context::Context;
use super::report::Phases;
use crate::clock::Clock;
use crate::error::JobError;
use std::time::Duration;
use warpheap::{DeviceError, DeviceVec, LaunchConfig};
use warpheap_applications::join::{Chained, Tuple};

/// What the probe works with.
pub struct Hashed {
    /// Rows of the left table, chained by bucket.
    pub rows: DeviceVec<Chained>,
    /// First row of each bucket.
    pub heads: DeviceVec<u32>,
    /// The right table by partition.
    pub right: DeviceVec<Tuple>,
}

impl Hashed {
    /// Partitions both tables and builds the hash table.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(context: &Context<'_>, phases: &mut Phases) -> Result<Self, JobError> {
        let (device, shape) = (context.device, context.shape);
        let started = Clock::start(device);
        let left = partition(context, context.left, &mut phases.partition_device)?;
        let right = partition(context, context.right, &mut phases.partition_device)?;
        phases.partition = started.elapsed();

        let started = Clock::start(device);
        let heads = DeviceVec::<u32>::zeroed(device, 1 << shape.bucket_bits)?;
        let rows = DeviceVec::<Chained>::uninit(device, left.len())?;
        let lanes = LaunchConfig::for_num_elems(left.len() as u32);
        let shift = shape.bucket_shift();
        let report = context
            .kernels
            .join_build(lanes, &left, &heads, &rows, shift)?;
        phases.build = started.elapsed();
        phases.build_device = report.device_time;
        Ok(Hashed { rows, heads, right })
    }
}

/// A table in order by partition; adds the time of its kernels.
fn partition(
    context: &Context<'_>,
    table: &DeviceVec<Tuple>,
    time: &mut Duration,
) -> Result<DeviceVec<Tuple>, DeviceError> {
    let (device, kernels) = (context.device, context.kernels);
    let lanes = LaunchConfig::for_num_elems(table.len() as u32);
    let shift = context.shape.partition_shift();
    let mut counts = DeviceVec::<u32>::zeroed(device, 1 << context.shape.partition_bits)?;
    *time += kernels
        .join_histogram(lanes, table, &counts, shift)?
        .device_time;
    let begins = offsets(counts.to_vec()?.into_iter());
    counts.copy_from(&begins[..counts.len()])?;
    let ordered = DeviceVec::<Tuple>::uninit(device, table.len())?;
    *time += kernels
        .join_scatter(lanes, table, &counts, &ordered, shift)?
        .device_time;
    Ok(ordered)
}

/// Where each of so many elements side by side begin, and behind the last where all end.
pub fn offsets(counts: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut end = 0u32;
    let ends = counts.map(|count| {
        end = end.wrapping_add(count);
        end
    });
    std::iter::once(0).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn offsets_add_up() {
        assert_eq!(super::offsets([3, 0, 4].into_iter()), [0, 3, 3, 7]);
        assert_eq!(super::offsets([].into_iter()), [0]);
    }
}
