//! K-mers counted by several ranks, each with a device and a map of its own.
//!
//! A rank reads a part of the input, sends each k-mer to the rank that it belongs to, and counts those that come to it as
//! a process that is alone counts all: with the same kernel, against the CPU. What is reported is the same with any number of ranks.
//!
//! | module | what |
//! |---|---|
//! | `load` | the part of the input that a rank reads |
//! | `pieces` | pieces of sequence as they travel |
//! | `spread` | sequences cut by which rank counts their k-mers, and the exchange, in rounds |
//! | `owners` | what the device cuts, without a device |
//! | `estimate`, `beside` | about how many different k-mers a rank will get; counting beside the exchange |
//! | `gathered` | what all ranks found, on rank 0 |

mod beside;
mod estimate;
mod gathered;
mod load;
pub(crate) mod owners;
mod pieces;
mod spread;

pub use load::part;

use super::options::Options;
use super::read::FastaError;
use super::ready::{Ready, no_kmer};
use super::report::{InputReport, RankReport, Report, SCHEMA, Source};
use super::run::conclude;
use super::{Job, Sequences, check_same, named_top, outcome};
use crate::allocators::{Allocator, LeftOut};
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::pool::Failure;
use crate::progress::Progress;
use crate::ranks::cannot::all_can;
use crate::ranks::exchanged::Exchanged;
use crate::room::first_copy;
use beside::Beside;
use spread::Spread;
use std::time::{Duration, Instant};
use warpheap::Device;
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
    let loaded = world.agree(load(world, device, options))?;
    let Loaded {
        kernels,
        source,
        sequences,
        time: load,
    } = loaded;
    let devices = vec![(device.clone(), kernels)];
    // The devices are connected, and have had a copy, before anything is timed.
    let carrier = world.carrier(device)?.to_string();
    world.agree(first_copy(device, size_of_val(&sequences.bases[..])))?;
    let beside = beside::spread(
        world,
        &devices,
        allocators.first(),
        &sequences,
        options,
        progress,
    )?;
    let Beside {
        spread,
        run: mut counted_beside,
        counted,
        ready: ready_time,
        time: spread_time,
        sent: bytes_sent,
        kmers,
    } = beside;
    let hidden = match counted_beside {
        Some(_) => spread.times.with(&counted.work),
        None => spread.times.hidden(),
    };
    let read = u64::from(sequences.len);
    let mut sums = [read, sequences.records.into(), sequences.unknown, kmers];
    drop(sequences);
    world.reduce(Op::Sum, &mut sums)?;
    let [bases, records, unknown, total] = sums;
    world.agree(some_kmer(&source, options.k, bases, total))?;

    let input = InputReport {
        source,
        records,
        bases,
        unknown,
        load: Duration::ZERO,
    };
    let started = Instant::now();
    // The CPU counts, or another allocator has to.
    let again = options.checked || counted_beside.is_none() || allocators.len() > 1;
    let received = match again {
        true => spread.sequences(options.k),
        false => Ok(Sequences::default()),
    };
    let mut ready = Ready::of(devices, world.agree(received)?, options, input);
    if !again {
        ready.survey.total = counted.kmers;
    }
    let Spread { times, .. } = spread;
    let reference = started.elapsed();
    let mut arrived = [ready.survey.total];
    world.reduce(Op::Sum, &mut arrived)?;
    world.agree(all_arrived(total, arrived[0]))?;
    let context = ready.context(progress);
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for allocator in allocators {
        let run = match counted_beside.take() {
            Some(mut run) => conclude(&context, &mut run, &counted.pairs)
                .map(|()| run)
                .map_err(Failure::Other),
            None => (allocator.job)(&context),
        };
        let run = world.agree(outcome(run, allocator, allocators.len()))?;
        match all_can(world, run)? {
            Ok(run) => {
                world.agree(check_same(&runs, &run, device))?;
                runs.push(run);
            }
            Err(why) => left_out.extend(why.map(|why| LeftOut {
                allocator: allocator.name,
                why,
            })),
        }
    }

    let found = ready.found(&runs, options.top);
    let mut distinct = [found.distinct];
    world.reduce(Op::Sum, &mut distinct)?;
    let mine = RankReport {
        rank: world.rank(),
        bases: read,
        kmers: ready.survey.total,
        distinct: found.distinct,
        bytes_sent,
        load,
        exchanged: Exchanged::new(&times, hidden),
        ready: ready_time,
        spread: spread_time,
        reference,
        runs,
    };
    let top = gathered::top(world, &found, options.top)?;
    let spectrum = gathered::spectrum(world, &found)?;
    let ranks = gathered::ranks(world, &mine)?;
    if world.rank() != 0 {
        return Ok(None);
    }
    let together = |number: usize| {
        let runs = ranks.iter().filter_map(|rank| rank.runs.get(number));
        gathered::together(runs, total)
    };
    let load = ranks.iter().map(|rank| rank.load).max().unwrap_or_default();
    Ok(Some(Report {
        input: InputReport {
            load,
            ..ready.input.clone()
        },
        total,
        distinct: distinct[0],
        top: named_top(top, options.k),
        spectrum,
        runs: (0..mine.runs.len()).filter_map(together).collect(),
        checked: options.checked,
        carrier: Some(carrier),
        left_out,
        ranks,
        schema: SCHEMA,
        device: DeviceReport::from(device),
        devices: Vec::new(),
        k: options.k,
        canonical: options.canonical,
    }))
}

/// What a rank has before anything is sent.
struct Loaded {
    kernels: warpheap_applications::Kernels,
    source: Source,
    sequences: Sequences,
    time: Duration,
}

fn load(world: &World, device: &Device, options: &Options) -> Result<Loaded, JobError> {
    options.check()?;
    let kernels = warpheap_applications::load(device)?;
    let started = Instant::now();
    let (source, sequences) = load::part(&options.input, world.rank(), world.size())?;
    Ok(Loaded {
        kernels,
        source,
        sequences,
        time: started.elapsed(),
    })
}

/// Makes sure that there is something to count.
fn some_kmer(source: &Source, k: u32, bases: u64, kmers: u64) -> Result<(), JobError> {
    match source {
        Source::File { file } if bases == 0 => {
            Err(FastaError::NoBases { file: file.clone() }.into())
        }
        _ if kmers == 0 => Err(no_kmer(k)),
        _ => Ok(()),
    }
}

/// Makes sure that nothing was lost on its way.
fn all_arrived(sent: u64, counted: u64) -> Result<(), JobError> {
    match sent == counted {
        true => Ok(()),
        false => Err(JobError::Run(format!(
            "the ranks sent {sent} k-mers and received {counted}: the MPI library or the network is wrong"
        ))),
    }
}
