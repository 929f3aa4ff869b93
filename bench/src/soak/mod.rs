//! Long runs that look whether a heap stays right.
//!
//! A random mix of all operations works heaps until the time is over or something is wrong. What the lanes of a launch do is planned
//! on the host, which knows afterwards what may have come of it.
//!
//! | module | what |
//! |---|---|
//! | `dice`, `sizes` | chance that a seed repeats; how large blocks are, and how aligned |
//! | `phase` | fill, churn, drain, full, hold, empty: what a cycle is made of |
//! | `plan` | what the lanes of a launch do |
//! | `table` | which blocks there are, and what may become of them |
//! | `check` | whether blocks overlap, and what the heap says of itself |
//! | `series` | whether a heap ties up more from cycle to cycle |
//! | `heap` | the heap on a device |
//! | `worker` | one heap and its cycles |
//! | `turn` | an allocator's turn: a heap that grows old, one that is made fresh, one that grows |
//! | `options`, `report`, `fault` | what is asked for, what comes of it, what can be wrong |

mod check;
mod dice;
mod fault;
mod heap;
mod options;
mod phase;
mod plan;
mod report;
mod series;
mod sizes;
mod table;
mod turn;
mod worker;

pub use check::Lies;
pub use fault::Fault;
pub use options::Options;
pub use phase::Phase;
pub use plan::Operation;
pub use report::{Found, Report, Row};

use crate::BenchError;
use crate::allocators::named;
use std::time::{Duration, Instant};
use turn::{Context, Turn};
use warpheap_api::DeviceAlloc;
use warpheap_api::host::Device;
use warpheap_rt::alloc::*;

/// The allocator that a user takes who names none.
const DEFAULT: &str = WarpHeap::NAME;

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The allocator whose turn it is.
    pub allocator: &'static str,
    /// Time since the run began.
    pub elapsed: Duration,
    /// How much of the run is done, from 0 to 1.
    pub done: f64,
    /// Operations of the allocator's turn so far.
    pub operations: u64,
    /// Operations a second.
    pub rate: f64,
    /// The cycle of the heap that is never made fresh, from 0.
    pub cycle: u64,
    /// Its phase.
    pub phase: Phase,
}

/// An allocator's turn.
type TakeTurn = fn(&Context<'_>, &mut dyn FnMut(Progress)) -> Result<Turn, BenchError>;

macro_rules! turns {
    ($($allocator:ident),* $(,)?) => {
        /// The allocators of the library.
        const ALL: &[(&str, TakeTurn)] = &[
            $((<$allocator as DeviceAlloc>::NAME, turn::take::<$allocator>),)*
        ];
    };
}

warpheap_rt::for_each_allocator!(turns);

/// The allocators that are asked for, in the library's order.
///
/// # Errors
/// [`BenchError::UnknownAllocator`].
pub fn allocators(options: &Options) -> Result<Vec<&'static str>, BenchError> {
    let known: Vec<&'static str> = ALL.iter().map(|(name, _)| *name).collect();
    match options.allocator.is_empty() {
        true => named(&[DEFAULT.to_owned()], &known),
        false => named(&options.allocator, &known),
    }
}

/// Works heaps on `device` as `options` say, allocator by allocator, and stops at the first thing that is wrong. `progress` is told after
/// each round.
///
/// # Errors
/// An allocator that does not exist, a pool that cannot be laid out, errors of the device before the first launch. What goes wrong later
/// is in the report.
pub fn run(
    device: &Device,
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Report, BenchError> {
    let names = allocators(options)?;
    let kernels = warpheap_bench_kernels::load(device)?;
    let (pool, lanes) = options.shape(device.info());
    let mut report = Report::new(device.info(), options, pool, lanes);
    let (begin, share) = (Instant::now(), options.time() / names.len().max(1) as u32);
    for (name, take) in ALL.iter().filter(|(name, _)| names.contains(name)) {
        let turn = take(
            &Context {
                device,
                kernels: &kernels,
                begin,
                turn: [report.rows.len(), names.len()].map(|number| number as f64),
                // Those before it may have taken a little longer.
                time: share.saturating_mul(report.rows.len() as u32 + 1),
                rounds: options.rounds.unwrap_or(u64::MAX),
                seed: options.seed,
                pool: pool & !15,
                lanes,
                fill: options.fill,
                one_launch: options.one_launch,
            },
            &mut progress,
        )?;
        let rounds = turn.row.rounds;
        report.rows.push(turn.row);
        if let Some((place, fault)) = turn.fault {
            report.fault = Some(Found {
                allocator: (*name).to_owned(),
                place,
                round: rounds,
                what: fault.to_string(),
                again: report.again(name, rounds),
            });
            break;
        }
    }
    Ok(report)
}
