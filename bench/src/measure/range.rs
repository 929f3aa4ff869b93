//! S7: how far apart blocks lie.

use super::refusal::Refusal;
use super::{Bench, Measured};
use crate::contents;
use crate::row::{Metric, Row, Unit};
use crate::stats::Spread;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_bench_kernels::mix::Mix;

pub(super) fn measure<A: Measured>(
    bench: Bench<'_, A>,
    size: u32,
    n: u32,
) -> Result<Row, DeviceError> {
    let mut row = bench.row();
    let mix = Mix::one(size);
    let device = bench.lab.device();
    let blocks = DeviceVec::<DevicePtr<u8>>::uninit(device, n as usize)?;
    bench.pool.reset()?;
    let malloc = bench.malloc(&blocks, mix);
    let reports = device.run_all(std::slice::from_ref(&malloc))?;
    if let Some(refusal) = Refusal::of(&[malloc], &reports) {
        refusal.tell(&mut row);
        return Ok(row);
    }
    let wrong = contents::check(bench.lab, bench.pool, &blocks, mix, 0)?;
    if let Some(refusal) = Refusal::of_wrong(wrong) {
        refusal.tell(&mut row);
        return Ok(row);
    }
    let starts: Vec<u64> = blocks.to_vec()?.iter().map(|b| b.byte_offset(0)).collect();
    let (lowest, highest) = (starts.iter().min(), starts.iter().max());
    if let (Some(lowest), Some(highest)) = (lowest, highest) {
        let size = u64::from(size);
        let range = (highest + size - lowest) as f64 / (u64::from(n) * size) as f64;
        let range = Metric::new(Metric::RANGE, Unit::Ratio, Spread::exactly(range));
        row.metrics.push(range);
    }
    Ok(row)
}
