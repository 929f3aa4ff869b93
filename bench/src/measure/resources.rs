//! S13: registers, local memory and code size of kernels.

use super::{Bench, Measured};
use crate::lab::Lab;
use crate::row::{Metric, Row, Unit};
use crate::stats::Spread;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_bench_kernels::mix::Mix;

/// A row for each kernel. The empty kernels around the calls of an allocator take some 10 registers.
pub(super) fn measure<A: Measured>(bench: Bench<'_, A>) -> Result<Vec<Row>, DeviceError> {
    let (device, kernels, pool) = (bench.lab.device(), bench.lab.kernels(), &*bench.pool);
    let (shape, mix) = (Lab::shape(1), Mix::one(16));
    let blocks = DeviceVec::<DevicePtr<u8>>::zeroed(device, 1)?;
    let counts = DeviceVec::<u32>::zeroed(device, 1)?;
    // Asked for and not run.
    let launches = [
        ("malloc", kernels.malloc_launch(pool, shape, &blocks, 16)),
        ("free", kernels.free_launch(pool, shape, &blocks, 16)),
        (
            "malloc_warp",
            kernels.malloc_warp_launch(pool, shape, &blocks, 16),
        ),
        (
            "free_warp",
            kernels.free_warp_launch(pool, shape, &blocks, 16),
        ),
        (
            "malloc_mixed",
            kernels.malloc_mixed_launch(pool, shape, &blocks, mix),
        ),
        (
            "churn",
            kernels.churn_launch(pool, shape, &counts, mix, 1, 1, 1),
        ),
    ];
    let mut rows = Vec::new();
    for (name, launch) in launches {
        let module = launch.module().id()?;
        let Some(found) = device.backend().kernel_resources(module, launch.entry())? else {
            let mut row = bench.row();
            row.status = "not measured: this backend does not tell".to_string();
            return Ok(vec![row]);
        };
        let mut row = bench.row();
        row.case = name.to_string();
        let metric = |name, unit, value: f64| Metric::new(name, unit, Spread::exactly(value));
        let (registers, local) = (f64::from(found.registers), f64::from(found.local_bytes));
        row.metrics = vec![
            metric(Metric::REGISTERS, Unit::Count, registers),
            metric(Metric::LOCAL, Unit::Bytes, local),
        ];
        let code = found.code_bytes.map(|bytes| bytes as f64);
        row.metrics
            .extend(code.map(|bytes| metric(Metric::CODE, Unit::Bytes, bytes)));
        rows.push(row);
    }
    Ok(rows)
}
