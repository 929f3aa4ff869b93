//! S1 to S4 for arenas of warps: a kernel in which each warp starts an arena and each lane allocates from
//! it, then one in which each warp ends its arena.

use super::blank;
use super::refusal::Refusal;
use crate::contents;
use crate::lab::{Lab, spread};
use crate::plan::{Cell, Work};
use crate::row::{Call, Metric, Row, Unit};
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec, Pool};
use warpheap_rt::alloc::{FdgMalloc, WarpHeap};

/// The arenas that are measured: over the library's default allocator.
pub type Arenas = FdgMalloc<WarpHeap>;

/// Measures one cell in `pool`; those that are no requests of lanes are not for arenas.
///
/// # Errors
/// Errors of the device.
pub fn measure(
    lab: &Lab,
    pool: &mut Pool<Arenas>,
    cell: &Cell,
    _call: Call,
) -> Result<Vec<Row>, DeviceError> {
    let mut row = blank::<Arenas>(cell, Call::Warp);
    row.call = Call::Warp;
    let Work::Requests { mix, n } = cell.work else {
        row.status = "not measured: an arena has no frees of single blocks".to_string();
        return Ok(vec![row]);
    };
    row.floors = Some(lab.floors(cell.n())?);
    let handles = || DeviceVec::<DevicePtr<u8>>::uninit(lab.device(), n as usize);
    let (blocks, arenas) = (handles()?, handles()?);
    let (kernels, shape) = (lab.kernels(), Lab::shape(n));
    let launches = [
        kernels.arena_malloc_launch(pool, shape, &blocks, &arenas, mix),
        kernels.arena_end_launch(pool, shape, &arenas),
    ];
    pool.reset()?;
    // Checked once before and once after, as the requests of other allocators are.
    for (last, seed) in [(false, 0), (true, 0x4000_0000)] {
        let reports = lab.device().run_all(&launches[..1])?;
        let mut refusal = Refusal::of(&launches[..1], &reports);
        if refusal.is_none() {
            let wrong = contents::run(lab, |counts| {
                [
                    kernels.arena_mark_launch(pool, shape, &blocks, mix, seed),
                    kernels.arena_verify_launch(pool, shape, &blocks, counts, mix, seed),
                ]
            })?;
            refusal = Refusal::of_wrong(wrong);
        }
        let reports = lab.device().run_all(&launches[1..])?;
        if let Some(refusal) = refusal.or_else(|| Refusal::of(&launches[1..], &reports)) {
            row.metrics.clear();
            refusal.tell(&mut row);
            return Ok(vec![row]);
        }
        if last {
            break;
        }
        let rounds = lab.repeat(|| {
            if cell.scenario.is_fresh() {
                pool.reset()?;
            }
            let reports = lab.time(&launches)?;
            Ok(match Refusal::of(&launches, &reports) {
                Some(refusal) => Err(refusal),
                None => Ok([reports[0].device_time, reports[1].device_time]),
            })
        })?;
        match rounds {
            Ok(rounds) => {
                for (at, name) in [Metric::MALLOC, Metric::FREE].into_iter().enumerate() {
                    let times: Vec<_> = rounds.iter().map(|round| round[at]).collect();
                    let time = Metric::new(name, Unit::Millis, spread(&times));
                    row.metrics.push(time);
                }
            }
            Err(refusal) => {
                refusal.tell(&mut row);
                return Ok(vec![row]);
            }
        }
    }
    Ok(vec![row])
}
