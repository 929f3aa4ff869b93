//! S19: blocks that go, and come again with other sizes.

use super::refusal::Refusal;
use super::{Bench, Measured, footprint};
use crate::lab::{Lab, spread};
use crate::row::{Metric, Row, Unit};
use crate::stats::Spread;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_bench_kernels::churn::{COUNTS, DAMAGED, FAILED};
use warpheap_bench_kernels::sizes::{KINDS, first_kind, size_of_kind};

/// In each round one block of so many goes.
const LEAVES: u32 = 3;

/// How many blocks of all kinds have so many percent of the pool's bytes; at least one.
pub(crate) fn slots(pool: u64, percent: u32) -> u32 {
    let all: u64 = (0..KINDS).map(|kind| u64::from(size_of_kind(kind))).sum();
    let slots = pool * u64::from(percent) / 100 * u64::from(KINDS) / all;
    slots.clamp(1, u32::MAX.into()) as u32
}

pub(super) fn measure<A: Measured>(
    bench: Bench<'_, A>,
    percent: u32,
    rounds: u32,
) -> Result<Row, DeviceError> {
    let mut row = bench.row();
    if !A::CAPS.frees {
        row.status = "not measured: does not free".to_string();
        return Ok(row);
    }
    let (lab, pool) = (bench.lab, bench.pool);
    let (device, kernels) = (lab.device(), lab.kernels());
    let n = slots(pool.bytes(), percent);
    let shape = Lab::shape(n);
    let blocks = DeviceVec::from_slice(device, &vec![DevicePtr::<u8>::NULL; n as usize])?;
    // The next kind of this one is the first.
    let before = |slot| (first_kind(slot) + KINDS - 1) % KINDS;
    let kinds = DeviceVec::from_slice(device, &(0..n).map(before).collect::<Vec<u32>>())?;
    let counts = DeviceVec::<u32>::zeroed(device, COUNTS)?;

    pool.reset()?;
    let enter = kernels.enter_launch(pool, shape, &blocks, &kinds, &counts);
    lab.time(std::slice::from_ref(&enter))?;
    let (mut mallocs, mut frees) = (Vec::new(), Vec::new());
    let mut most = footprint::of(pool, held(&blocks.to_vec()?, &kinds.to_vec()?))?;
    for round in 0..rounds {
        let leave = kernels.leave_launch(pool, shape, &blocks, &kinds, &counts, round, LEAVES);
        let reports = lab.time(&[leave, enter.clone()])?;
        frees.push(reports[0].device_time);
        mallocs.push(reports[1].device_time);
        let now = footprint::of(pool, held(&blocks.to_vec()?, &kinds.to_vec()?))?;
        let median = |metric: &Option<Metric>| metric.as_ref().map_or(0.0, |m| m.value.median);
        if median(&now) > median(&most) {
            most = now;
        }
    }
    let asked = f64::from(n) * (1.0 + f64::from(rounds) / f64::from(LEAVES));
    let all = kernels.leave_launch(pool, shape, &blocks, &kinds, &counts, rounds, 1);
    lab.time(&[all])?;
    let counted = counts.to_vec()?;
    if let Some(refusal) = Refusal::of_damaged(counted[DAMAGED]) {
        refusal.tell(&mut row);
        return Ok(row);
    }
    for (name, times) in [(Metric::MALLOC, mallocs), (Metric::FREE, frees)] {
        let metric = Metric::new(name, Unit::Millis, spread(&times));
        row.metrics.push(metric);
    }
    let failed = f64::from(counted[FAILED]);
    if failed != 0.0 {
        row.status = format!("{failed} of about {asked:.0} mallocs failed");
    }
    let share = Spread::exactly(100.0 * failed / asked);
    row.metrics
        .push(Metric::new(Metric::FAILED, Unit::Percent, share));
    row.metrics.extend(most);
    Ok(row)
}

/// The bytes of the blocks that are there.
fn held(blocks: &[DevicePtr<u8>], kinds: &[u32]) -> u64 {
    let there = blocks.iter().zip(kinds).filter(|(b, _)| !b.is_null());
    there.map(|(_, kind)| u64::from(size_of_kind(*kind))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_take_their_share_of_the_pool() {
        let pool = 1 << 30;
        let bytes: u64 = (0..slots(pool, 60))
            .map(|slot| u64::from(size_of_kind(first_kind(slot))))
            .sum();
        let share = bytes as f64 / pool as f64;
        assert!((0.59..0.61).contains(&share), "{share}");
        assert_eq!(slots(16, 60), 1);
    }

    #[test]
    fn blocks_count_with_the_kind_that_they_have() {
        let block = DevicePtr::<u8>::from_granule(7);
        assert_eq!(
            held(&[block, DevicePtr::NULL, block], &[1, 6, 3]),
            40 + 1050
        );
    }
}
