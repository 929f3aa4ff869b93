//! S9: a clock around each malloc.

use super::refusal::Refusal;
use super::{Bench, Measured};
use crate::lab::Lab;
use crate::row::{Metric, Row, Unit};
use crate::stats::{Spread, quantile};
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_bench_kernels::mix::Mix;

/// What is told of all lanes of a repeat.
const QUANTILES: [(&str, f64); 4] = [
    (Metric::MEDIAN, 0.5),
    (Metric::P99, 0.99),
    (Metric::P999, 0.999),
    (Metric::WORST, 1.0),
];

pub(super) fn measure<A: Measured>(
    mut bench: Bench<'_, A>,
    size: u32,
    n: u32,
) -> Result<Row, DeviceError> {
    let mut row = bench.row();
    let lab = bench.lab;
    let Some(tick) = lab.tick()? else {
        row.status = "not measured: kernels have no clock on this backend".to_string();
        return Ok(row);
    };
    let blocks = DeviceVec::<DevicePtr<u8>>::uninit(lab.device(), n as usize)?;
    let ticks = DeviceVec::<u32>::uninit(lab.device(), n as usize)?;
    let (kernels, shape) = (lab.kernels(), Lab::shape(n));
    let malloc = kernels.malloc_timed_launch(bench.pool, shape, &blocks, &ticks, size);
    let free = bench.free(&blocks, Mix::one(size));
    bench.pool.reset()?;
    let told = lab.repeat(|| {
        bench.refresh()?;
        let reports = lab.time(std::slice::from_ref(&malloc))?;
        if let Some(refusal) = Refusal::of(std::slice::from_ref(&malloc), &reports) {
            return Ok(Err(refusal));
        }
        if A::CAPS.frees {
            lab.device().run_all(std::slice::from_ref(&free))?;
        }
        let mut nanos: Vec<_> = ticks
            .to_vec()?
            .iter()
            .map(|&t| f64::from(t) * tick)
            .collect();
        nanos.sort_by(f64::total_cmp);
        Ok(Ok(QUANTILES.map(|(_, q)| quantile(&nanos, q))))
    })?;
    match told {
        Ok(told) => {
            for (at, (name, _)) in QUANTILES.into_iter().enumerate() {
                let values: Vec<_> = told.iter().filter_map(|quantiles| quantiles[at]).collect();
                if let Some(value) = Spread::of_values(&values) {
                    row.metrics.push(Metric::new(name, Unit::Nanos, value));
                }
            }
        }
        Err(refusal) => refusal.tell(&mut row),
    }
    Ok(row)
}
