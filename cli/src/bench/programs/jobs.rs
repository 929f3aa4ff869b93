//! The join, the k-mers and the graph that changes, as the lab measures them.

use super::Job;
use crate::allocators::{Allocator, DEFAULT, named};
use crate::error::CliError;
use crate::graph::args::GraphArgs;
use crate::graph::{self, changing};
use crate::join::args::JoinArgs;
use crate::kmer::args::KmerArgs;
use crate::{join, kmer};
use clap::{Args, Parser};
use std::time::Duration;
use warpheap::Device;
use warpheap_bench::program::Measured;
use warpheap_bench::row::{Metric, Unit};
use warpheap_bench::scenario::Scenario;
use warpheap_bench::stats::Spread;

/// The probe of a join of two tables with so many rows.
pub fn join(device: &Device, rows: u32) -> Job<join::Ready> {
    let device = device.clone();
    let make = move || {
        let args: JoinArgs = args(&format!("--rows {rows}"))?;
        join::Ready::new(&device, &args)
    };
    Job {
        scenario: Scenario::S14,
        case: format!("{rows} rows"),
        n: rows,
        make: Box::new(make),
        ready: None,
        measure: |ready, name| {
            let run = (one(name, &join::allocators::all())?.job)(&ready.context())?;
            let mut metrics = vec![time("probe", &[run.phases.of_probe()])];
            if !run.phases.free_device.is_zero() {
                metrics.push(time(Metric::FREE, &[run.phases.free_device]));
            }
            Ok(Measured {
                pool_bytes: run.pool_bytes,
                metrics,
            })
        },
    }
}

/// Counting the k-mers of so many bases.
pub fn kmers(device: &Device, bases: u32) -> Job<kmer::Ready> {
    let device = device.clone();
    let make = move || {
        let args: KmerArgs = args(&format!("--bases {bases}"))?;
        kmer::Ready::new(&device, &args)
    };
    Job {
        scenario: Scenario::S15,
        case: format!("{bases} bases"),
        n: bases,
        make: Box::new(make),
        ready: None,
        measure: |ready, name| {
            let job = one(name, &kmer::allocators::all())?.job;
            // The first run makes what drivers make when a kernel is launched first.
            job(&ready.context())?;
            let run = job(&ready.context())?;
            let metrics = vec![
                time("count", &[run.phases.count_device]),
                footprint(run.bytes_used, run.bytes_blocks),
            ];
            Ok(Measured {
                pool_bytes: run.pool_bytes,
                metrics,
            })
        },
    }
}

/// A graph of 2^`scale` vertices in which so many edges come, then go, in so many rounds.
pub fn graph(device: &Device, [scale, rounds, updates]: [u32; 3]) -> Job<changing::Ready> {
    let device = device.clone();
    let line = format!("--scale {scale} --rounds {rounds} --updates {updates}");
    let make = move || {
        let args: GraphArgs = args(&line)?;
        changing::Ready::new(&device, &args)
    };
    Job {
        scenario: Scenario::S16,
        case: format!("{rounds} x {updates} edges"),
        n: updates,
        make: Box::new(make),
        ready: None,
        measure: |ready, name| {
            let job = one(name, &graph::allocators::all())?.job;
            (job.fits)(&ready.expected.demand)?;
            let run = (job.change)(&ready.context())?;
            let heap = |rounds: &[changing::Times]| -> Vec<Duration> {
                rounds.iter().map(|times| times.heap).collect()
            };
            let mut metrics = vec![
                time("insert", &heap(&run.inserts)),
                time("delete", &heap(&run.deletes)),
            ];
            let phases = run.footprint.iter();
            let of = |at: &changing::Footprint| footprint(at.bytes_used, at.bytes_live);
            let most = phases
                .map(of)
                .max_by(|a, b| a.value.median.total_cmp(&b.value.median));
            metrics.extend(most);
            Ok(Measured {
                pool_bytes: run.pool_bytes,
                metrics,
            })
        },
    }
}

/// The options of a command.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line<A: Args> {
    #[command(flatten)]
    args: A,
}

/// Options as a user writes them behind a command: what they do not say is what it is for users.
fn args<A: Args>(line: &str) -> Result<A, CliError> {
    match Line::try_parse_from(line.split(' ')) {
        Ok(Line { args }) => Ok(args),
        Err(error) => Err(CliError::Usage(error.to_string())),
    }
}

/// The allocator of this name.
fn one<J: Copy>(name: &str, all: &[Allocator<J>]) -> Result<Allocator<J>, CliError> {
    let found = named(&[name.to_owned()], all, DEFAULT)?;
    let first = found.first().copied();
    first.ok_or_else(|| CliError::Usage(format!("there is no allocator `{name}`")))
}

/// What a heap ties up for its live blocks.
pub fn footprint(tied: u64, live: u64) -> Metric {
    let ratio = Spread::exactly(tied as f64 / live.max(1) as f64);
    Metric::new(Metric::FOOTPRINT, Unit::Ratio, ratio)
}

/// A time in the device's milliseconds.
pub fn time(name: &str, times: &[Duration]) -> Metric {
    let spread = Spread::of(times).unwrap_or(Spread::exactly(0.0));
    Metric::new(name, Unit::Millis, spread)
}
