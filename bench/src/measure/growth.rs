//! S11: blocks and vectors that grow.

use super::refusal::Refusal;
use super::{Bench, Measured};
use crate::lab::{Lab, spread};
use crate::row::{Metric, Row, Unit};
use warpheap_api::host::{DeviceError, DeviceVec, Prepared};
use warpheap_bench_kernels::churn::{COUNTS, DAMAGED};

/// Blocks that double by `realloc`.
pub(super) fn blocks<A: Measured>(
    bench: Bench<'_, A>,
    least: u32,
    doublings: u32,
    n: u32,
) -> Result<Row, DeviceError> {
    let counts = DeviceVec::zeroed(bench.lab.device(), COUNTS)?;
    let (kernels, shape) = (bench.lab.kernels(), Lab::shape(n));
    let grow = kernels.grow_block_launch(bench.pool, shape, &counts, n, least, doublings);
    measure(bench, grow, &counts)
}

/// Vectors that grow by `push`.
pub(super) fn vectors<A: Measured>(
    bench: Bench<'_, A>,
    elements: u32,
    n: u32,
) -> Result<Row, DeviceError> {
    let counts = DeviceVec::zeroed(bench.lab.device(), COUNTS)?;
    let (kernels, shape) = (bench.lab.kernels(), Lab::shape(n));
    let grow = kernels.grow_vector_launch(bench.pool, shape, &counts, n, elements);
    measure(bench, grow, &counts)
}

fn measure<A: Measured>(
    mut bench: Bench<'_, A>,
    grow: Prepared,
    counts: &DeviceVec<u32>,
) -> Result<Row, DeviceError> {
    let mut row = bench.row_with_floors()?;
    bench.pool.reset()?;
    let times = bench.times(&[grow])?;
    // The counts of all rounds together.
    let damaged = Refusal::of_damaged(counts.to_vec()?[DAMAGED]);
    match (times, damaged) {
        (_, Some(refusal)) | (Err(refusal), None) => refusal.tell(&mut row),
        (Ok(times), None) => {
            let time = spread(times.first().map_or(&[], Vec::as_slice));
            row.metrics
                .push(Metric::new(Metric::TOTAL, Unit::Millis, time));
        }
    }
    Ok(row)
}
