//! An allocator's turn.

use super::Progress;
use super::dice::Dice;
use super::fault::Fault;
use super::heap::{OnDevice, Worked};
use super::plan::Planner;
use super::report::Row;
use super::sizes::Sizes;
use super::worker::{Facts, Kind, Tally, Worker};
use crate::BenchError;
use std::time::{Duration, Instant};
use warpheap_api::host::{Device, DeviceError, PlanError, Pool};
use warpheap_bench_kernels::Kernels;

/// The heap that grows old has all of the pool, the others one of so many parts.
const PARTS: u64 = 8;
/// In so many rounds the other heaps have one each.
const ROUNDS: u64 = 4;
/// Blocks of a table for each lane, and the least and most of all lanes.
const BLOCKS: u32 = 16;
const LEAST_BLOCKS: u32 = 1 << 12;
const MOST_BLOCKS: u32 = 1 << 20;
/// Figures of a series that are shown.
const SHOWN: usize = 12;

/// What all turns have in common.
pub(super) struct Context<'a> {
    pub device: &'a Device,
    pub kernels: &'a Kernels,
    /// When the run began, and how long after that the turn ends.
    pub begin: Instant,
    pub time: Duration,
    /// Number of the turn, from 0, and how many there are.
    pub turn: [f64; 2],
    /// The most rounds of the turn.
    pub rounds: u64,
    pub seed: u64,
    /// Bytes of the pool.
    pub pool: u64,
    /// Lanes of a launch.
    pub lanes: u32,
    /// How full the heap is for the most part, in percent.
    pub fill: u32,
    /// Whether no two launches run at the same time.
    pub one_launch: bool,
}

impl Context<'_> {
    /// How much of the run is done after so many rounds of this turn, from 0 to 1.
    fn done(&self, rounds: u64) -> f64 {
        let [number, all] = self.turn;
        let of_time = self.begin.elapsed().as_secs_f64() / self.time.as_secs_f64();
        let of_rounds = (number + rounds as f64 / self.rounds as f64) / all;
        (of_time * (number + 1.0) / all).max(of_rounds).min(1.0)
    }
}

/// What came of a turn: where and what is wrong, if something is.
pub(super) struct Turn {
    pub row: Row,
    pub fault: Option<(String, Fault)>,
}

/// Works heaps of an allocator until its time is over or something is wrong.
pub(super) fn take<A: Worked>(
    context: &Context<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Turn, BenchError> {
    let begin = Instant::now();
    let mut workers = workers::<A>(context)?;
    let (mut rounds, mut wrong) = (0, None);
    // One round at least, or a heap that nobody worked would be found right.
    while wrong.is_none()
        && rounds < context.rounds
        && (rounds == 0 || context.begin.elapsed() < context.time)
    {
        let at = of_round(rounds, workers.len());
        rounds += 1;
        let worker = &mut workers[at];
        let (cycle, phase) = worker.place();
        if let Err(fault) = worker.round() {
            let place = format!("{} in cycle {cycle}, {phase}", worker.name());
            wrong = Some((place, fault));
        }
        let operations = workers.iter().map(|one| one.tally().operations).sum();
        let (cycle, phase) = workers[0].place();
        progress(Progress {
            allocator: A::NAME,
            elapsed: context.begin.elapsed(),
            done: context.done(rounds),
            operations,
            rate: rate(operations, begin.elapsed()),
            cycle,
            phase,
        });
    }
    Ok(Turn {
        row: row(A::NAME, &workers, rounds, begin.elapsed()),
        fault: wrong,
    })
}

/// Which worker has this round, from 0: the first one the most of them.
fn of_round(round: u64, workers: usize) -> usize {
    let at = round % (ROUNDS + workers as u64 - 1);
    at.saturating_sub(ROUNDS - 1) as usize
}

fn rate(operations: u64, time: Duration) -> f64 {
    operations as f64 / time.as_secs_f64().max(1e-9)
}

fn workers<'a, A: Worked>(
    context: &Context<'a>,
) -> Result<Vec<Worker<OnDevice<'a, A>>>, BenchError> {
    let device = context.device;
    let blocks = (context.lanes.saturating_mul(BLOCKS)).clamp(LEAST_BLOCKS, MOST_BLOCKS);
    let facts = Facts {
        frees: A::CAPS.frees,
        fill: context.fill,
        one_launch: context.one_launch,
    };
    let width = device.info().warp_width;
    let worker = |number: u64, pool: Pool<A>, kind| {
        let room = pool.bytes().saturating_sub(pool.metadata_bytes());
        let planner = Planner {
            dice: Dice::of(context.seed, number),
            sizes: Sizes::new(
                room,
                A::largest_block(&A::Config::default()),
                A::CAPS.max_align,
            ),
            lanes: context.lanes,
            width,
        };
        let heap = OnDevice::new(context.kernels, device, pool, context.lanes, blocks)?;
        Ok::<_, DeviceError>(Worker::new(heap, kind, facts, planner, blocks))
    };
    let part = (context.pool / PARTS) & !15;
    let mut workers = vec![
        worker(0, device.reserve(context.pool)?, Kind::Old)?,
        worker(1, device.reserve(part)?, Kind::Reset)?,
    ];
    match device.reserve_growing::<A>((part / 2) & !15, part) {
        Ok(pool) => workers.push(worker(2, pool, Kind::Grows(part))?),
        // Not all do, and not on all devices.
        Err(DeviceError::Plan(PlanError::CannotGrow { .. }) | DeviceError::CannotResize { .. }) => {
        }
        Err(error) => return Err(error.into()),
    }
    Ok(workers)
}

fn row<A: Worked>(
    allocator: &str,
    workers: &[Worker<OnDevice<'_, A>>],
    rounds: u64,
    time: Duration,
) -> Row {
    let sum = |of: fn(Tally) -> u64| workers.iter().map(|one| of(one.tally())).sum();
    let old = &workers[0];
    let operations = sum(|tally| tally.operations);
    Row {
        allocator: allocator.to_owned(),
        operations,
        launches: sum(|tally| tally.launches),
        rounds,
        failed: sum(|tally| tally.failed),
        cycles: old.tally().cycles,
        looks: sum(|tally| tally.looks),
        resets: sum(|tally| tally.resets),
        resizes: sum(|tally| tally.resizes),
        seconds: time.as_secs_f64(),
        rate: rate(operations, time),
        tied: old
            .ratio
            .first()
            .zip(old.ratio.last())
            .map(<[f64; 2]>::from),
        tied_series: old.ratio.shown(SHOWN),
        filled_series: old.filled.shown(SHOWN),
        empty_series: old.empty.shown(SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_that_grows_old_has_the_most_rounds() {
        let of = |workers| {
            (0..12)
                .map(|round| of_round(round, workers))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(1), [0; 12]);
        assert_eq!(of(2), [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(of(3), [0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2]);
    }
}
