//! The join, the k-mers and the graph that changes, as the lab measures them.

use super::Job;
use crate::progress::Bars;
use std::time::Duration;
use warpheap::Device;
use warpheap_bench::program::Measured;
use warpheap_bench::row::{Metric, Unit};
use warpheap_bench::scenario::Scenario;
use warpheap_bench::stats::Spread;
use warpheap_jobs::allocators::{Allocator, DEFAULT, named};
use warpheap_jobs::error::JobError;
use warpheap_jobs::graph::changing::{self, Changes};
use warpheap_jobs::graph::generate::Wanted;
use warpheap_jobs::graph::input::{Graph, Input};
use warpheap_jobs::join::tables::{self, Generator};
use warpheap_jobs::{graph, join, kmer};

/// The probe of a join of two tables with so many rows.
pub fn join(device: &Device, rows: u32) -> Job<join::Ready> {
    let device = device.clone();
    let make = move || {
        let tables = Generator {
            left: rows,
            right: rows,
            ..Generator::default()
        };
        let options = join::Options {
            input: tables::Input::Generated(tables),
            ..join::Options::default()
        };
        join::Ready::new(&device, &options)
    };
    Job {
        scenario: Scenario::S14,
        case: format!("{rows} rows"),
        n: rows,
        make: Box::new(make),
        ready: None,
        measure: |ready, name| {
            let run = (one(name, &join::all())?.job)(&ready.context(&Bars::detect()))?;
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
        let options = kmer::Options {
            input: kmer::Input::Reads {
                bases,
                seed: kmer::Input::SEED,
            },
            ..kmer::Options::default()
        };
        kmer::Ready::new(&device, &options)
    };
    Job {
        scenario: Scenario::S15,
        case: format!("{bases} bases"),
        n: bases,
        make: Box::new(make),
        ready: None,
        measure: |ready, name| {
            let job = one(name, &kmer::all())?.job;
            // The first run makes what drivers make when a kernel is launched first.
            job(&ready.context(&Bars::detect()))?;
            let run = job(&ready.context(&Bars::detect()))?;
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
    let make = move || {
        let options = changing::Options {
            input: Input {
                graph: Graph::Generated(Wanted {
                    scale: Some(scale),
                    ..Wanted::default()
                }),
                ..Input::default()
            },
            changes: Changes {
                rounds,
                updates,
                ..Changes::default()
            },
            pool: None,
        };
        changing::Ready::new(&device, &options, &Bars::detect())
    };
    Job {
        scenario: Scenario::S16,
        case: format!("{rounds} x {updates} edges"),
        n: updates,
        make: Box::new(make),
        ready: None,
        measure: |ready, name| {
            let job = one(name, &graph::all())?.job;
            (job.fits)(&ready.expected.demand)?;
            let run = (job.change)(&ready.context(&Bars::detect()))?;
            // Of as many rounds as there are from one compaction to the next, so that each has its part of one.
            let heap = |rounds: &[changing::Times]| -> Vec<Duration> {
                let rounds = rounds.chunks(Changes::COMPACT_EVERY as usize);
                let mean = |part: &[changing::Times]| {
                    let sum: Duration = part.iter().map(|times| times.heap).sum();
                    sum / part.len() as u32
                };
                rounds.map(mean).collect()
            };
            let metrics = vec![
                time("insert", &heap(&run.inserts)),
                time("delete", &heap(&run.deletes)),
                Metric::new(
                    Metric::FOOTPRINT,
                    Unit::Ratio,
                    Spread::exactly(run.most_tied),
                ),
            ];
            Ok(Measured {
                pool_bytes: run.pool_bytes,
                metrics,
            })
        },
    }
}

/// The allocator of this name.
fn one<J: Copy>(name: &str, all: &[Allocator<J>]) -> Result<Allocator<J>, JobError> {
    let found = named(&[name.to_owned()], all, DEFAULT)?;
    let first = found.first().copied();
    first.ok_or_else(|| JobError::Usage(format!("there is no allocator `{name}`")))
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
