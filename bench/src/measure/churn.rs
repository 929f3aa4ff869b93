//! S5: lanes that free and allocate in turn, in one kernel.

use super::refusal::Refusal;
use super::{Bench, Measured};
use crate::lab::{Lab, spread};
use crate::row::{Metric, Row, Unit};
use crate::stats::Spread;
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_bench_kernels::churn::{COUNTS, DAMAGED, FAILED};
use warpheap_bench_kernels::mix::Mix;

pub(super) fn measure<A: Measured>(
    mut bench: Bench<'_, A>,
    mix: Mix,
    lanes: u32,
    rounds: u32,
    step: u32,
) -> Result<Row, DeviceError> {
    let mut row = bench.row_with_floors()?;
    let counts = DeviceVec::<u32>::zeroed(bench.lab.device(), COUNTS)?;
    let (kernels, shape) = (bench.lab.kernels(), Lab::shape(lanes));
    let churn = kernels.churn_launch(bench.pool, shape, &counts, mix, lanes, rounds, step);
    bench.pool.reset()?;
    let lab = bench.lab;
    // The counts are part of every round: none is left unchecked.
    let told = lab.repeat(|| {
        bench.refresh()?;
        counts.fill_zero()?;
        let reports = lab.time(std::slice::from_ref(&churn))?;
        let counted = counts.to_vec()?;
        Ok(match Refusal::of_damaged(counted[DAMAGED]) {
            Some(refusal) => Err(refusal),
            None => Ok((reports[0].device_time, counted[FAILED])),
        })
    })?;
    match told {
        Ok(told) => {
            let (times, failed): (Vec<_>, Vec<_>) = told.into_iter().unzip();
            let failed: Vec<_> = failed.into_iter().map(f64::from).collect();
            let failed = Spread::of_values(&failed).unwrap_or(Spread::exactly(0.0));
            if failed.p90 > 0.0 {
                let mallocs = u64::from(lanes) * u64::from(rounds);
                row.status = format!("{} of {mallocs} failed", failed.median);
            }
            let total = Metric::new(Metric::TOTAL, Unit::Millis, spread(&times));
            let failed = Metric::new(Metric::FAILED, Unit::Count, failed);
            row.metrics.extend([total, failed]);
        }
        Err(refusal) => refusal.tell(&mut row),
    }
    Ok(row)
}
