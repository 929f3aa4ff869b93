//! S10: churn of a heap that is filled to a share of its capacity: of the blocks that it can hold, since
//! no allocator that rounds sizes can hand out all bytes of its pool.

use super::refusal::Refusal;
use super::{Bench, Measured, footprint};
use crate::lab::Lab;
use crate::row::{Metric, Row, Unit};
use crate::stats::Spread;
use std::time::Duration;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_bench_kernels::churn::{COUNTS, DAMAGED, FAILED, FREED, Turn, request_of};
use warpheap_bench_kernels::mix::Mix;

/// Most lanes of a launch.
const MOST_LANES: u32 = 1 << 17;
/// Slots of a lane, at least.
const LEAST_SLOTS: u32 = 4;
/// Most rounds of a launch.
const MOST_ROUNDS: u32 = 16;
/// Launches get longer up to this time, so that one of a slow allocator is not endless.
const LAUNCH: Duration = Duration::from_millis(20);
/// A phase that has taken so long ends before all operations are done.
const PHASE: Duration = Duration::from_secs(10);
/// The capacity is found to one part in so many of the largest that is possible.
const CAPACITY_STEPS: u32 = 1024;
/// The search ends after so much time on the device, with what it knows by then.
const SEARCH: Duration = Duration::from_secs(10);
/// Of so many requests one may fail in a heap that holds all of them: lanes get into each other's way.
const SERVED: u32 = 1000;

/// What the launches of a phase did.
#[derive(Debug, Default)]
struct Phase {
    /// Millions of operations per second of each launch, with its rounds.
    paces: Vec<(u32, f64)>,
    operations: u64,
    tried: u64,
    failed: u64,
}

pub(super) fn measure<A: Measured>(
    mut bench: Bench<'_, A>,
    mix: Mix,
    percent: u32,
    operations: u64,
) -> Result<Row, DeviceError> {
    let mut row = bench.row();
    if !A::CAPS.frees {
        row.status = "not measured: does not free".to_string();
        return Ok(row);
    }
    let (device, kernels) = (bench.lab.device(), bench.lab.kernels());
    let capacity = capacity(&mut bench, mix)?;
    let slots = (u64::from(capacity) * u64::from(percent) / 100) as u32;
    if slots == 0 {
        row.status = format!("not measured: it holds {capacity} blocks of this mix");
        return Ok(row);
    }
    let lanes = (slots / LEAST_SLOTS).clamp(1, MOST_LANES);
    // Each lane owns as many.
    let slots = slots / lanes * lanes;
    row.n = lanes;
    let blocks = DeviceVec::<DevicePtr<u8>>::uninit(device, slots as usize)?;
    let times = DeviceVec::<u32>::zeroed(device, slots as usize)?;
    let counts = DeviceVec::<u32>::zeroed(device, COUNTS)?;

    bench.pool.reset()?;
    let malloc = kernels.malloc_mixed_launch(bench.pool, Lab::shape(slots), &blocks, mix);
    let reports = device.run_all(std::slice::from_ref(&malloc))?;
    let unfilled = reports[0].failure(malloc.entry()).map_or(0, |f| f.lanes);
    device.run_all(&[kernels.stamp_launch(bench.pool, Lab::shape(slots), &blocks, mix)])?;

    let mut phase = Phase::default();
    let mut spent = Duration::ZERO;
    let mut turn = Turn {
        lanes,
        rounds: 1,
        seed: 0,
    };
    let mut damaged = 0;
    while phase.operations < operations && spent < PHASE && damaged == 0 {
        counts.fill_zero()?;
        let shape = Lab::shape(lanes);
        let refill = kernels.refill_launch(bench.pool, shape, &blocks, &times, &counts, mix, turn);
        let time = bench.lab.time(&[refill])?[0].device_time;
        let counted = counts.to_vec()?;
        damaged += counted[DAMAGED];
        phase.add(&counted, turn, time);
        spent += time;
        turn.seed = turn.seed.wrapping_add(0x9e37_79b9);
        if time * 2 < LAUNCH && turn.rounds < MOST_ROUNDS {
            turn.rounds *= 2;
        }
    }
    let asked = held(mix, &blocks.to_vec()?, &times.to_vec()?);
    let footprint = footprint::of(bench.pool, asked)?;
    counts.fill_zero()?;
    let shape = Lab::shape(slots);
    device.run_all(&[kernels.drain_launch(bench.pool, shape, &blocks, &times, &counts, mix)])?;
    damaged += counts.to_vec()?[DAMAGED];
    match Refusal::of_damaged(damaged) {
        Some(refusal) => refusal.tell(&mut row),
        None => {
            phase.tell(&mut row, unfilled, slots, operations);
            let share = 100.0 * footprint::asked(mix, capacity) as f64 / bench.pool.bytes() as f64;
            let share = Metric::new(Metric::CAPACITY, Unit::Percent, Spread::exactly(share));
            row.metrics.push(share.more_is_better());
            row.metrics.extend(footprint);
        }
    }
    Ok(row)
}

/// How many requests of `mix` a fresh heap serves in one launch, but for a few.
fn capacity<A: Measured>(bench: &mut Bench<'_, A>, mix: Mix) -> Result<u32, DeviceError> {
    let (device, kernels) = (bench.lab.device(), bench.lab.kernels());
    let most = slots_for(mix, bench.pool.bytes());
    let handles = device.alloc(u64::from(most) * 4)?;
    let (mut fits, mut beyond) = (0, most.saturating_add(1));
    let mut spent = Duration::ZERO;
    while beyond - fits > (most / CAPACITY_STEPS).max(1) && spent < SEARCH {
        let requests = fits + (beyond - fits) / 2;
        // SAFETY: nobody else has this memory.
        let blocks = unsafe { DeviceVec::from_raw_parts(handles.clone(), 0, requests) }?;
        bench.pool.reset()?;
        let malloc = kernels.malloc_mixed_launch(bench.pool, Lab::shape(requests), &blocks, mix);
        let reports = device.run_all(std::slice::from_ref(&malloc))?;
        let failed = reports[0].failure(malloc.entry()).map_or(0, |f| f.lanes);
        match failed <= requests / SERVED {
            true => fits = requests,
            false => beyond = requests,
        }
        spent += reports[0].device_time;
    }
    Ok(fits)
}

/// The bytes of the blocks in `slots`, each filled as often as `times` says.
fn held(mix: Mix, slots: &[DevicePtr<u8>], times: &[u32]) -> u64 {
    let filled = (0..).zip(slots.iter().zip(times));
    filled
        .filter(|(_, (block, _))| !block.is_null())
        .map(|(slot, (_, &times))| u64::from(mix.size(request_of(slot, times))))
        .sum()
}

impl Phase {
    fn add(&mut self, counted: &[u32], turn: Turn, time: Duration) {
        let [failed, freed] = [FAILED, FREED].map(|at| u64::from(counted[at]));
        let tried = u64::from(turn.lanes) * u64::from(turn.rounds);
        let served = tried - failed.min(tried);
        self.operations += served + freed;
        self.tried += tried;
        self.failed += failed;
        let pace = (served + freed) as f64 / time.as_secs_f64().max(1e-9) / 1e6;
        self.paces.push((turn.rounds, pace));
    }

    fn tell(&self, row: &mut Row, unfilled: u32, slots: u32, operations: u64) {
        // Shorter launches tell more of launching.
        let longest = self.paces.iter().map(|&(rounds, _)| rounds).max();
        let of_longest = self.paces.iter().filter(|&&(r, _)| Some(r) == longest);
        let paces: Vec<_> = of_longest.map(|&(_, pace)| pace).collect();
        if let Some(pace) = Spread::of_values(&paces) {
            let pace = Metric::new(Metric::THROUGHPUT, Unit::MopsPerSecond, pace);
            row.metrics.push(pace);
        }
        let share = 100.0 * self.failed as f64 / self.tried.max(1) as f64;
        let failed = Metric::new(Metric::FAILED, Unit::Percent, Spread::exactly(share));
        let empty = 100.0 * f64::from(unfilled) / f64::from(slots.max(1));
        let empty = Metric::new(Metric::UNFILLED, Unit::Percent, Spread::exactly(empty));
        row.metrics.extend([failed, empty]);
        let mut said = Vec::new();
        if self.failed != 0 {
            said.push(format!("{} of {} mallocs failed", self.failed, self.tried));
        }
        if unfilled != 0 {
            said.push(format!("{unfilled} of {slots} slots empty at first"));
        }
        if self.operations < operations {
            said.push(format!("{} operations in {PHASE:?}", self.operations));
        }
        if !said.is_empty() {
            row.status = said.join("; ");
        }
    }
}

/// How many requests of `mix` take no more than `bytes` bytes together; at least one.
fn slots_for(mix: Mix, bytes: u64) -> u32 {
    let mut taken = 0;
    let requests = (0..u32::MAX).take_while(|&number| {
        taken += u64::from(mix.size(number));
        taken <= bytes
    });
    (requests.count() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_with_the_sizes_that_they_have_now() {
        let mix = Mix::powers(16, 1024);
        let block = DevicePtr::<u8>::from_granule(7);
        let slots = [block, DevicePtr::NULL, block];
        let size = |slot, times| u64::from(mix.size(request_of(slot, times)));
        assert_eq!(held(mix, &slots, &[0, 5, 3]), size(0, 0) + size(2, 3));
    }

    #[test]
    fn slots_take_the_bytes_they_may_and_no_more() {
        assert_eq!(slots_for(Mix::one(64), 640), 10);
        assert_eq!(slots_for(Mix::one(64), 1), 1);
        let mix = Mix::uniform(16, 1024);
        let slots = slots_for(mix, 1 << 20);
        let taken: u64 = (0..slots).map(|number| u64::from(mix.size(number))).sum();
        assert!(taken <= 1 << 20 && taken + u64::from(mix.size(slots)) > 1 << 20);
    }
}
