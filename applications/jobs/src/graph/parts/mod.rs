//! A graph in parts, by several ranks, each with a device and a heap of its own.
//!
//! A rank reads or generates a part of the edges, and sends each to the rank that its target belongs to. That builds the vectors of its
//! vertices, and ranks them: after each iteration of PageRank all ranks bring together what they found. A vertex has its in-neighbours
//! in the order of the whole input, whoever read them, so all is the same, bit by bit, as one process finds it.
//!
//! | module | what |
//! |---|---|
//! | `meeting` | where ranks meet, and what becomes of errors there |
//! | `load` | the part of the edges that a rank reads |
//! | `borders` | which vertices are whose |
//! | `spread`, `arrivals` | edges brought to the ranks that build them |
//! | `degrees` | the edges that leave each vertex, counted together |
//! | `gathered` | what all ranks found, on rank 0 |

mod arrivals;
mod borders;
mod degrees;
mod gathered;
mod load;
pub(super) mod meeting;
mod spread;

use super::built::{Built, Expected};
use super::edges::simple;
use super::report::{GraphReport, RankReport, Report, SCHEMA};
use super::{Context, Job, Options, check_sum, fits};
use crate::allocators::{Allocator, LeftOut};
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::progress::Progress;
use crate::ranks::cannot::all_can;
use crate::ranks::exchanged::Exchanged;
use borders::Borders;
use load::Loaded;
use meeting::Meeting;
use spread::Spread;
use std::time::Instant;
use warpheap::Device;
use warpheap_dist::{Op, World};

/// As [`run`](super::run()), by all ranks of a world, each on its own device; the report is rank 0's, and the others have none. A call
/// of all ranks with the same settings.
///
/// # Errors
/// As [`run`](super::run()), on the lowest rank that has one: the others wait until it ends the job ([`World::agree`]). What fails while
/// vertices are ranked is an error of that rank alone, which has to end the job on all.
pub fn run(
    world: &World,
    device: &Device,
    allocators: &[Allocator<Job>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Option<Report>, JobError> {
    let Loaded {
        kernels,
        source,
        list,
        time: load,
        read,
    } = load::load(world, device, options)?;
    let (vertices, base) = (list.vertices, list.base);
    let borders = Borders::new(world, &list.edges, vertices)?;
    let mine = borders.of(world.rank());
    let Spread { mut edges, times } =
        spread::spread(world, list.edges, &borders, options.batch, progress)?;

    let started = Instant::now();
    if options.input.simple {
        edges = simple(&edges, vertices, mine.start);
    }
    let mut sums = [edges.len() as u64];
    world.reduce(Op::Sum, &mut sums)?;
    world.agree(options.input.some_left(sums[0]))?;
    let out_degrees = degrees::of_all(world, &edges, &borders, vertices)?;
    let mut built = Built::new(mine, edges, out_degrees, options.iterations, base);
    let mut largest = [built.largest_in_degree().into()];
    world.reduce(Op::Max, &mut largest)?;
    let degrees = started.elapsed();
    let bytes_sent = world.bytes_sent();

    let started = Instant::now();
    if options.checked {
        built.expected = Some(expected(world, &built)?);
    }
    let reference = started.elapsed();

    let meeting = Meeting::new(world);
    let context = Context {
        device,
        kernels: &kernels,
        built: &built,
        demand: &built.demand(),
        meeting: Some(&meeting),
        pool: options.pool,
        grow: options.grow,
        batch: options.batch,
        progress,
    };
    let carrier = world.carrier(device)?.to_string();
    let before = world.bytes_sent();
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for allocator in allocators {
        match all_can(world, world.agree(fits(allocator, context.demand))?)? {
            Ok(()) => runs.push(meeting.agree((allocator.job.run)(&context))?),
            Err(why) => left_out.extend(why.map(|why| LeftOut {
                allocator: allocator.name,
                why,
            })),
        }
    }
    let mine = RankReport {
        rank: world.rank(),
        edges_read: read,
        vertices: built.rows().into(),
        edges: built.edges.len() as u64,
        bytes_sent,
        bytes_gathered: world.bytes_sent() - before,
        load,
        exchanged: Exchanged::new(&times, times.hidden()),
        degrees,
        reference,
        runs,
    };
    let ranks = gathered::ranks(world, &mine)?;
    if world.rank() != 0 {
        return Ok(None);
    }
    let runs = gathered::together(&ranks);
    for run in &runs {
        check_sum(run, device)?;
    }
    Ok(Some(Report {
        schema: SCHEMA,
        device: DeviceReport::from(device),
        graph: GraphReport {
            source,
            vertices,
            edges: sums[0],
            // A vertex has no more edges than its rank, which 32 bits count.
            largest_in_degree: largest[0] as u32,
            load: ranks.iter().map(|rank| rank.load).max().unwrap_or_default(),
        },
        runs,
        left_out,
        checked: options.checked,
        ranks,
        carrier: Some(carrier),
    }))
}

/// The CPU's answers for the vertices of this rank. A call of all ranks.
fn expected(world: &World, built: &Built) -> Result<Expected, JobError> {
    let rows = built.neighbours();
    let ranks =
        built
            .page_rank
            .run_part(&rows, &built.out_degrees, built.iterations, |mine, all| {
                world.all_gather_slices(mine, all)
            })?;
    Ok(Expected { rows, ranks })
}
