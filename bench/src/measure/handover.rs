//! S12: one kernel allocates, another frees.

use super::refusal::Refusal;
use super::{Bench, Measured};
use crate::lab::{Lab, spread};
use crate::row::{Metric, Row, Unit};
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_bench_kernels::churn::{COUNTS, DAMAGED};

/// Both kernels touch every word of the blocks, so their times hold that too.
pub(super) fn measure<A: Measured>(
    mut bench: Bench<'_, A>,
    size: u32,
    n: u32,
) -> Result<Row, DeviceError> {
    let mut row = bench.row_with_floors()?;
    let device = bench.lab.device();
    let blocks = DeviceVec::<DevicePtr<u8>>::uninit(device, n as usize)?;
    let counts = DeviceVec::<u32>::zeroed(device, COUNTS)?;
    let (kernels, shape) = (bench.lab.kernels(), Lab::shape(n));
    let launches = [
        kernels.produce_launch(bench.pool, shape, &blocks, size),
        kernels.consume_launch(bench.pool, shape, &blocks, &counts, size),
    ];
    bench.pool.reset()?;
    let times = bench.times(&launches)?;
    // The counts of all rounds together.
    let damaged = Refusal::of_damaged(counts.to_vec()?[DAMAGED]);
    match (times, damaged) {
        (_, Some(refusal)) | (Err(refusal), None) => refusal.tell(&mut row),
        (Ok(times), None) => {
            for (name, times) in [Metric::MALLOC, Metric::FREE].into_iter().zip(times) {
                let time = Metric::new(name, Unit::Millis, spread(&times));
                row.metrics.push(time);
            }
        }
    }
    Ok(row)
}
