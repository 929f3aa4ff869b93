//! How one cell of a scenario is measured.
//!
//! Rounds of one malloc kernel and one free kernel over the same blocks. The first and the last round
//! are checked and not timed: marking the blocks in between would leave the caches in a state that the
//! free kernel does not deserve.

use crate::contents::{self, Wrong};
use crate::lab::{Lab, failure, spread};
use crate::plan::Cell;
use crate::report::Row;
use std::time::Duration;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec, KernelFailure, LaunchReport, Pool, Prepared};
use warpheap_bench_kernels::contents::{MarkEntry, VerifyEntry};
use warpheap_bench_kernels::requests::{FreeEntry, FreeWarpEntry, MallocEntry, MallocWarpEntry};

/// An allocator for which all the kernels are compiled.
pub trait Measured:
    MallocEntry + FreeEntry + MallocWarpEntry + FreeWarpEntry + MarkEntry + VerifyEntry
{
}

impl<A> Measured for A where
    A: MallocEntry + FreeEntry + MallocWarpEntry + FreeWarpEntry + MarkEntry + VerifyEntry
{
}

/// Why a cell has no times.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Refusal {
    /// Requests failed.
    Failed(KernelFailure),
    /// Blocks were handed out that may not be.
    Wrong(Wrong),
}

/// The times of the timed rounds.
#[derive(Debug, Default)]
struct Times {
    malloc: Vec<Duration>,
    free: Vec<Duration>,
}

/// One cell with everything that its rounds share.
struct Rounds<'a, A> {
    lab: &'a Lab,
    pool: &'a mut Pool<A>,
    cell: Cell,
    blocks: DeviceVec<DevicePtr<u8>>,
    malloc: Prepared,
    /// `None` for an allocator that does not free: its heap is made fresh for every round.
    free: Option<Prepared>,
}

/// Measures one cell in `pool`; `warp`: the lanes of a warp call together.
///
/// # Errors
/// Errors of the device.
pub fn measure<A: Measured>(
    lab: &mut Lab,
    pool: &mut Pool<A>,
    cell: Cell,
    warp: bool,
) -> Result<Row, DeviceError> {
    let floors = lab.floors(cell.n)?;
    let mut row = Row {
        scenario: cell.scenario,
        allocator: A::NAME,
        call: if warp { "warp" } else { "lane" },
        size: cell.size,
        n: cell.n,
        floors,
        malloc: None,
        free: None,
        right: true,
        status: "ok".to_string(),
    };
    match Rounds::new(lab, pool, cell, warp)?.run()? {
        Ok(times) => {
            row.malloc = Some(spread(&times.malloc));
            row.free = (!times.free.is_empty()).then(|| spread(&times.free));
        }
        Err(Refusal::Failed(failure)) => {
            let [exhausted, contended, unsupported] = failure.by_cause;
            row.status = format!(
                "{} of {} failed: {exhausted} exhausted, {contended} contended, {unsupported} unsupported",
                failure.lanes, cell.n
            );
        }
        Err(Refusal::Wrong(wrong)) => {
            row.right = false;
            row.status = wrong.to_string();
        }
    }
    Ok(row)
}

impl<'a, A: Measured> Rounds<'a, A> {
    fn new(
        lab: &'a Lab,
        pool: &'a mut Pool<A>,
        cell: Cell,
        warp: bool,
    ) -> Result<Self, DeviceError> {
        let blocks = DeviceVec::uninit(lab.device(), cell.n as usize)?;
        let (kernels, shape, size) = (lab.kernels(), Lab::shape(cell.n), cell.size);
        let (malloc, free) = match warp {
            false => (
                kernels.malloc_launch(pool, shape, &blocks, size),
                kernels.free_launch(pool, shape, &blocks, size),
            ),
            true => (
                kernels.malloc_warp_launch(pool, shape, &blocks, size),
                kernels.free_warp_launch(pool, shape, &blocks, size),
            ),
        };
        Ok(Rounds {
            lab,
            pool,
            cell,
            blocks,
            malloc,
            free: A::CAPS.frees.then_some(free),
        })
    }

    /// All rounds of the cell.
    fn run(mut self) -> Result<Result<Times, Refusal>, DeviceError> {
        let mut times = Times::default();
        self.pool.reset()?;
        if let Some(refusal) = self.checked_round(0)? {
            return Ok(Err(refusal));
        }
        for repeat in 0..self.lab.warm_up() + self.lab.repeats() {
            self.refresh()?;
            let mut launches = vec![self.malloc.clone()];
            launches.extend(self.free.clone());
            let reports = self.lab.time(&launches)?;
            if let Some(refusal) = refused(&launches, &reports) {
                return Ok(Err(refusal));
            }
            if repeat >= self.lab.warm_up() {
                let mut reports = reports.iter().map(|report| report.device_time);
                times.malloc.extend(reports.next());
                times.free.extend(reports.next());
            }
        }
        // The blocks were freed and allocated many times since the first check.
        Ok(match self.checked_round(0x4000_0000)? {
            Some(refusal) => Err(refusal),
            None => Ok(times),
        })
    }

    /// Makes the heap fresh, if the next round needs that.
    fn refresh(&mut self) -> Result<(), DeviceError> {
        match self.cell.scenario.is_fresh() || self.free.is_none() {
            true => self.pool.reset(),
            false => Ok(()),
        }
    }

    /// A round with a look at the contents.
    fn checked_round(&mut self, seed: u32) -> Result<Option<Refusal>, DeviceError> {
        self.refresh()?;
        let malloc = std::slice::from_ref(&self.malloc);
        let reports = self.lab.device().run_all(malloc)?;
        if let Some(refusal) = refused(malloc, &reports) {
            return Ok(Some(refusal));
        }
        let wrong = contents::check(self.lab, self.pool, &self.blocks, self.cell.size, seed)?;
        if !wrong.is_nothing() {
            return Ok(Some(Refusal::Wrong(wrong)));
        }
        self.lab.device().run_all(self.free.as_slice())?;
        Ok(None)
    }
}

/// The first failure among the reports of `launches`.
fn refused(launches: &[Prepared], reports: &[LaunchReport]) -> Option<Refusal> {
    let pairs = launches.iter().zip(reports);
    let mut failures = pairs.filter_map(|(launch, report)| failure(launch, report));
    failures.next().map(Refusal::Failed)
}
