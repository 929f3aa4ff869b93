//! S8: how long it takes to make a heap fresh.

use super::{Bench, Measured};
use crate::lab::spread;
use crate::row::{Metric, Row, Unit};
use std::time::Instant;
use warpheap_api::host::DeviceError;

/// The host's time: what is written is in place when the call returns.
pub(super) fn measure<A: Measured>(bench: Bench<'_, A>) -> Result<Row, DeviceError> {
    let mut row = bench.row();
    let times = bench.lab.repeat(|| {
        let start = Instant::now();
        bench.pool.reset()?;
        Ok(Ok::<_, std::convert::Infallible>(start.elapsed()))
    })?;
    let Ok(times) = times;
    let time = Metric::new(Metric::FORMAT, Unit::Millis, spread(&times));
    row.metrics.push(time);
    Ok(row)
}
