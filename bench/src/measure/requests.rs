//! S1 to S4: a kernel in which each lane allocates, then one in which each lane frees.
//!
//! The first and the last round are checked and not timed: marking the blocks in between would leave
//! the caches in a state that the free kernel does not deserve.

use super::refusal::Refusal;
use super::{Bench, Measured, footprint};
use crate::contents;
use crate::lab::spread;
use crate::row::{Metric, Row, Unit};
use std::time::Duration;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec, Prepared};
use warpheap_bench_kernels::mix::Mix;

type Blocks = DeviceVec<DevicePtr<u8>>;

/// The times of each launch, and what the blocks tie up in a fresh heap.
type Rounds = (Vec<Vec<Duration>>, Option<Metric>);

pub(super) fn measure<A: Measured>(
    mut bench: Bench<'_, A>,
    mix: Mix,
    n: u32,
) -> Result<Row, DeviceError> {
    let mut row = bench.row_with_floors()?;
    let blocks = Blocks::uninit(bench.lab.device(), n as usize)?;
    // An allocator that does not free has a fresh heap for every round.
    let mut launches = vec![bench.malloc(&blocks, mix)];
    launches.extend(A::CAPS.frees.then(|| bench.free(&blocks, mix)));
    match rounds(&mut bench, &launches, &blocks, mix)? {
        Ok((times, footprint)) => {
            for (name, times) in [Metric::MALLOC, Metric::FREE].into_iter().zip(times) {
                let time = Metric::new(name, Unit::Millis, spread(&times));
                row.metrics.push(time);
            }
            row.metrics.extend(footprint);
        }
        Err(refusal) => refusal.tell(&mut row),
    }
    Ok(row)
}

/// All rounds of the cell.
fn rounds<A: Measured>(
    bench: &mut Bench<'_, A>,
    launches: &[Prepared],
    blocks: &Blocks,
    mix: Mix,
) -> Result<Result<Rounds, Refusal>, DeviceError> {
    bench.pool.reset()?;
    let looks = bench.cell.scenario.is_fresh();
    let footprint = match checked(bench, launches, blocks, mix, 0, looks)? {
        Ok(footprint) => footprint,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let times = match bench.times(launches)? {
        Ok(times) => times,
        Err(refusal) => return Ok(Err(refusal)),
    };
    // The blocks were freed and allocated many times since the first check.
    bench.refresh()?;
    let last = checked(bench, launches, blocks, mix, 0x4000_0000, false)?;
    Ok(last.map(|_| (times, footprint)))
}

/// A round with a look at the contents; and at what they tie up, if it `looks`.
fn checked<A: Measured>(
    bench: &Bench<'_, A>,
    launches: &[Prepared],
    blocks: &Blocks,
    mix: Mix,
    seed: u32,
    looks: bool,
) -> Result<Result<Option<Metric>, Refusal>, DeviceError> {
    let (malloc, free) = launches.split_at(1);
    let reports = bench.lab.device().run_all(malloc)?;
    if let Some(refusal) = Refusal::of(malloc, &reports) {
        return Ok(Err(refusal));
    }
    let footprint = match looks {
        true => footprint::of(bench.pool, footprint::asked(mix, blocks.len() as u32))?,
        false => None,
    };
    let wrong = contents::check(bench.lab, bench.pool, blocks, mix, seed)?;
    bench.lab.device().run_all(free)?;
    Ok(match Refusal::of_wrong(wrong) {
        Some(refusal) => Err(refusal),
        None => Ok(footprint),
    })
}
