//! A join by several ranks, each with a device and a heap of its own.
//!
//! A rank reads or generates a part of both tables, sends each row to the rank that its key belongs to, and joins those that come to
//! it as a process that is alone joins all: with the same kernels, against the CPU. All matches of a key are one rank's, so the
//! matches of all ranks are those of one process.
//!
//! | module | what |
//! |---|---|
//! | `load` | the part of the tables that a rank reads |
//! | `spread` | rows brought to the ranks that join them |
//! | `gathered` | what all ranks found, on rank 0 |

mod gathered;
mod load;
pub(crate) mod spread;

use super::options::Options;
use super::ready::Ready;
use super::report::{JoinReport, RankReport, Report, SCHEMA};
use super::tables::{Input, Tables};
use super::{Job, check_known, check_same};
use crate::allocators::Allocator;
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::progress::Progress;
use crate::ranks::exchanged::Exchanged;
use crate::room::first_copy;
use load::Loaded;
use spread::Spread;
use warpheap::Device;
use warpheap_applications::join::Tuple;
use warpheap_dist::{Op, World};

/// As [`run`](super::run), by all ranks of a world, each on its own device; the report is rank 0's, and the others have none. A call
/// of all ranks with the same settings.
///
/// # Errors
/// As [`run`](super::run), on the lowest rank that has one: the others wait until it ends the job ([`World::agree`]).
pub fn run(
    world: &World,
    device: &Device,
    allocators: &[Allocator<Job>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Option<Report>, JobError> {
    let loaded = world.agree(load::load(world, device, options))?;
    let Loaded {
        kernels,
        source,
        tables,
        time: load,
    } = loaded;
    let read = rows(&tables);
    let mut all = read;
    world.reduce(Op::Sum, &mut all)?;
    world.agree(load::some_rows(&options.input, world.rank(), all))?;

    // The devices are connected, and have had a copy, before anything is timed.
    let carrier = world.carrier(device)?.to_string();
    let round = tables.left.len().min(options.batch as usize);
    world.agree(first_copy(device, round * size_of::<Tuple>()))?;
    let spread = spread::spread(world, device, &kernels, &tables, options.batch, progress)?;
    let Spread { left, right, times } = spread;
    drop(tables);
    let mine = [left.len() as u64, right.len() as u64];
    let mut arrived = mine;
    world.reduce(Op::Sum, &mut arrived)?;
    world.agree(all_arrived(all, arrived))?;
    let bytes_sent = world.bytes_sent();
    let ready = world.agree(Ready::of(device, kernels, left, right, source, options))?;
    let context = ready.context(progress);
    let mut runs = Vec::new();
    for allocator in allocators {
        let run = world.agree((allocator.job)(&context))?;
        world.agree(check_same(&runs, &run, device))?;
        runs.push(run);
    }
    let here = ready.report(0);
    let mine = RankReport {
        rank: world.rank(),
        rows_read: read.iter().sum(),
        rows_left: mine[0],
        rows_right: mine[1],
        bytes_sent,
        load,
        exchanged: Exchanged::new(&times, times.hidden()),
        reference: here.load,
        upload: here.upload,
        runs,
    };
    let mut layout = [here.partitions, here.buckets, here.lanes];
    world.reduce(Op::Sum, &mut layout)?;
    let [partitions, buckets, lanes] = layout;
    let ranks = gathered::ranks(world, &mine, here.page_bytes)?;
    let runs = gathered::together(&ranks, all[1], here.page_bytes);
    if let (Input::Generated(generator), 0) = (&options.input, world.rank()) {
        check_known(generator, &runs, device)?;
    }
    if world.rank() != 0 {
        return Ok(None);
    }
    let longest = |of: fn(&RankReport) -> _| ranks.iter().map(of).max().unwrap_or_default();
    Ok(Some(Report {
        schema: SCHEMA,
        device: DeviceReport::from(device),
        devices: Vec::new(),
        join: JoinReport {
            rows_left: all[0],
            rows_right: all[1],
            matches: runs.first().map_or(0, |run| run.found.matches),
            partitions,
            buckets,
            lanes,
            load: longest(|rank| rank.load + rank.reference),
            upload: longest(|rank| rank.upload),
            ..here
        },
        runs,
        checked: options.checked,
        carrier: Some(carrier),
        ranks,
    }))
}

/// Rows of both tables.
fn rows(tables: &Tables) -> [u64; 2] {
    [tables.left.len() as u64, tables.right.len() as u64]
}

/// Makes sure that nothing was lost on its way.
fn all_arrived(sent: [u64; 2], received: [u64; 2]) -> Result<(), JobError> {
    match sent == received {
        true => Ok(()),
        false => Err(JobError::Run(format!(
            "the ranks sent {} and {} rows and received {} and {}: the MPI library or the network is wrong",
            sent[0], sent[1], received[0], received[1]
        ))),
    }
}
