//! How cells are measured: a file for each kind of work.
//!
//! Each takes a [`Bench`], a pool with the cell to be measured in it, and gives rows. What an allocator
//! cannot do or does wrongly becomes the row's status; only errors of the device are errors.

pub(crate) mod arenas;
mod churn;
mod fill;
mod footprint;
mod growth;
mod handover;
mod latency;
mod range;
mod refusal;
mod replay;
mod requests;
mod resources;
pub(crate) mod sizes;
mod startup;
mod utilisation;

use crate::lab::Lab;
use crate::plan::{Cell, Work};
use crate::row::{Call, OK, Row};
use refusal::Refusal;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, Pool, Prepared};
use warpheap_bench_kernels::mix::Mix;

/// An allocator for which all the kernels are compiled.
pub trait Measured: HostAlloc + Kernels {}

impl<A: HostAlloc + Kernels> Measured for A {}

macro_rules! kernels {
    ($($module:ident: $($entry:ident),*;)*) => {
        /// An allocator for which all the kernels are compiled.
        pub trait Kernels: $($(warpheap_bench_kernels::$module::$entry +)*)* {}

        impl<A: $($(warpheap_bench_kernels::$module::$entry +)*)*> Kernels for A {}
    };
}

kernels! {
    churn: ChurnEntry, DrainEntry, RefillEntry, StampEntry;
    contents: MarkEntry, VerifyEntry;
    growth: GrowBlockEntry, GrowVectorEntry;
    handover: ConsumeEntry, ProduceEntry;
    latency: MallocTimedEntry;
    replay: ReplayEntry;
    sizes: EnterEntry, LeaveEntry;
    requests: FreeEntry, FreeMixedEntry, FreeMixedWarpEntry, FreeWarpEntry, MallocEntry,
        MallocMixedEntry, MallocMixedWarpEntry, MallocWarpEntry;
}

/// A cell and what it takes to measure it.
#[derive(Debug)]
pub struct Bench<'a, A> {
    /// Times launches.
    pub lab: &'a Lab,
    /// The heap, as large as the cell asks for.
    pub pool: &'a mut Pool<A>,
    /// The cell.
    pub cell: &'a Cell,
    /// How lanes call the allocator.
    pub call: Call,
}

/// Measures one cell in `pool`.
///
/// # Errors
/// Errors of the device.
pub fn measure<A: Measured>(
    lab: &Lab,
    pool: &mut Pool<A>,
    cell: &Cell,
    call: Call,
) -> Result<Vec<Row>, DeviceError> {
    let bench = Bench {
        lab,
        pool,
        cell,
        call,
    };
    let row = match cell.work {
        Work::Requests { mix, n } => requests::measure(bench, mix, n),
        Work::Churn {
            mix,
            lanes,
            rounds,
            step,
        } => churn::measure(bench, mix, lanes, rounds, step),
        Work::Utilisation { size, then, asking } => utilisation::measure(bench, size, then, asking),
        Work::Range { size, n } => range::measure(bench, size, n),
        Work::StartUp => startup::measure(bench),
        Work::Latency { size, n } => latency::measure(bench, size, n),
        Work::Fill {
            mix,
            percent,
            operations,
        } => fill::measure(bench, mix, percent, operations),
        Work::Realloc {
            least,
            doublings,
            n,
        } => growth::blocks(bench, least, doublings, n),
        Work::Vector { elements, n } => growth::vectors(bench, elements, n),
        Work::Handover { size, n } => handover::measure(bench, size, n),
        Work::Resources => return resources::measure(bench),
        Work::Sizes { percent, rounds } => sizes::measure(bench, percent, rounds),
        Work::Replay { .. } => replay::measure(bench),
    }?;
    Ok(vec![row])
}

/// The row of a cell that could not be measured because of `error`.
pub fn unmeasured<A: HostAlloc>(cell: &Cell, call: Call, error: &DeviceError) -> Row {
    let mut row = blank::<A>(cell, call);
    // A heap that cannot be laid out is an answer; everything else should not happen.
    row.right = matches!(
        error,
        DeviceError::Plan(_) | DeviceError::OutOfMemory { .. } | DeviceError::TooLarge { .. }
    );
    row.status = format!("not measured: {error}");
    row
}

fn blank<A: HostAlloc>(cell: &Cell, call: Call) -> Row {
    Row {
        scenario: cell.scenario,
        allocator: A::NAME.to_string(),
        call: match cell.work {
            Work::Requests { .. } | Work::Utilisation { .. } | Work::Range { .. } => call,
            // Their kernels are there for lanes that call by themselves alone.
            _ => Call::Lane,
        },
        case: cell.case.clone(),
        size: cell.size(),
        fill: cell.fill(),
        n: cell.n(),
        pool_bytes: cell.pool,
        floors: None,
        metrics: Vec::new(),
        right: true,
        status: OK.to_string(),
    }
}

impl<A: Measured> Bench<'_, A> {
    /// The cell's row, nothing measured yet.
    fn row(&self) -> Row {
        blank::<A>(self.cell, self.call)
    }

    /// The same with the floors at the cell's number of lanes.
    fn row_with_floors(&self) -> Result<Row, DeviceError> {
        let mut row = self.row();
        row.floors = Some(self.lab.floors(self.cell.n())?);
        Ok(row)
    }

    /// A launch in which each lane allocates its request of `mix`, by a kernel of its own where there
    /// is one size: computing a size has a price.
    fn malloc(&self, blocks: &DeviceVec<DevicePtr<u8>>, mix: Mix) -> Prepared {
        let (kernels, pool) = (self.lab.kernels(), &*self.pool);
        let (shape, size) = (Lab::shape(blocks.len() as u32), mix.least);
        match (mix.kinds, self.call) {
            (1, Call::Lane) => kernels.malloc_launch(pool, shape, blocks, size),
            (1, Call::Warp) => kernels.malloc_warp_launch(pool, shape, blocks, size),
            (_, Call::Lane) => kernels.malloc_mixed_launch(pool, shape, blocks, mix),
            (_, Call::Warp) => kernels.malloc_mixed_warp_launch(pool, shape, blocks, mix),
        }
    }

    /// A launch in which each lane frees what [`malloc`](Self::malloc) gave it.
    fn free(&self, blocks: &DeviceVec<DevicePtr<u8>>, mix: Mix) -> Prepared {
        let (kernels, pool) = (self.lab.kernels(), &*self.pool);
        let (shape, size) = (Lab::shape(blocks.len() as u32), mix.least);
        match (mix.kinds, self.call) {
            (1, Call::Lane) => kernels.free_launch(pool, shape, blocks, size),
            (1, Call::Warp) => kernels.free_warp_launch(pool, shape, blocks, size),
            (_, Call::Lane) => kernels.free_mixed_launch(pool, shape, blocks, mix),
            (_, Call::Warp) => kernels.free_mixed_warp_launch(pool, shape, blocks, mix),
        }
    }

    /// Makes the heap fresh where the scenario wants that before each repeat, or the allocator does not
    /// free.
    fn refresh(&mut self) -> Result<(), DeviceError> {
        match self.cell.scenario.is_fresh() || !A::CAPS.frees {
            true => self.pool.reset(),
            false => Ok(()),
        }
    }

    /// Runs `launches` again and again, the heap fresh or warm as the scenario wants; gives the times of
    /// each of them.
    fn times(
        &mut self,
        launches: &[Prepared],
    ) -> Result<Result<Vec<Vec<std::time::Duration>>, Refusal>, DeviceError> {
        let lab = self.lab;
        let rounds = lab.repeat(|| {
            self.refresh()?;
            let reports = lab.time(launches)?;
            let times = reports.iter().map(|report| report.device_time);
            Ok(match Refusal::of(launches, &reports) {
                Some(refusal) => Err(refusal),
                None => Ok(times.collect::<Vec<_>>()),
            })
        })?;
        Ok(rounds.map(|rounds| {
            let of = |at: usize| {
                rounds
                    .iter()
                    .filter_map(move |times| times.get(at).copied())
            };
            (0..launches.len()).map(|at| of(at).collect()).collect()
        }))
    }
}
