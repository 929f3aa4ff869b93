//! The command `kmer`: the k-mers of DNA sequences, counted in a hash map that grows on the device.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `sequences`, `read`, `generate` | sequences: what they are, FASTA files, generated ones |
//! | `reference` | what the CPU counts |
//! | `pool` | the pool that is enough |
//! | `allocators`, `run` | which allocators there are; one run on a device, and whether it is right |
//! | `report`, `show`, `plot` | what is printed and drawn |

pub mod allocators;
pub mod args;
mod generate;
mod plot;
mod pool;
pub mod read;
mod reference;
pub mod report;
mod run;
mod sequences;
mod show;

use crate::allocators::{self as named, LeftOut};
use crate::device::{self, DeviceReport};
use crate::error::CliError;
use crate::pool::Failure;
use crate::progress::Progress;
use args::KmerArgs;
use reference::Counts;
use report::{Frequency, InputReport, Report, SCHEMA, Source, Top};
use run::Context;
use sequences::Sequences;
use std::time::Instant;
use warpheap::{Device, SnapshotSeries};
use warpheap_applications::Kernels;

/// Bases that are generated, unless the user says how many.
const BASES: u32 = 1 << 20;

/// Counts k-mers with each of the allocators asked for.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or counts wrongly.
pub fn run(args: &KmerArgs) -> Result<String, CliError> {
    crate::heap_map::around(args.heap_map.as_deref(), args.json, |snapshots| {
        job(args, snapshots)
    })
}

fn job(args: &KmerArgs, snapshots: &SnapshotSeries) -> Result<String, CliError> {
    crate::plot::check(args.plot.as_deref())?;
    let allocators = named::named(&args.allocator, &allocators::all(), named::DEFAULT)?;
    // Before the sequences are made: a wrong name should not wait for a large file.
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let ready = Ready::new(&device, args)?;
    let context = Context {
        snapshots,
        ..ready.context()
    };
    let counts = &ready.counts;
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    for allocator in &allocators {
        match (allocator.job)(&context) {
            Ok(run) => runs.push(run),
            Err(Failure::Other(error)) => return Err(error),
            // A table of all is not worth less for one that is missing.
            Err(Failure::Cannot(error)) if allocator.by_name || allocators.len() == 1 => {
                return Err(error);
            }
            Err(Failure::Cannot(error)) => {
                left_out.push(LeftOut::new(allocator.name, &error));
            }
        }
    }
    let top = |(kmer, count)| Top {
        kmer: sequences::letters(kmer, args.k),
        count,
    };
    let report = Report {
        schema: SCHEMA,
        device: DeviceReport::from(&device),
        input: ready.input.clone(),
        k: args.k,
        canonical: args.canonical,
        total: counts.total,
        distinct: counts.distinct(),
        top: counts.top(args.top).into_iter().map(top).collect(),
        spectrum: counts
            .spectrum()
            .into_iter()
            .map(|(count, kmers)| Frequency { count, kmers })
            .collect(),
        runs,
        left_out,
    };
    if let Some(path) = &args.plot {
        plot::write(path, &report)?;
    }
    if args.json {
        crate::text::json(&report)
    } else {
        Ok(report.text())
    }
}

/// Sequences that are ready to be counted with any allocator.
pub struct Ready {
    device: Device,
    kernels: Kernels,
    sequences: Sequences,
    counts: Counts,
    canonical: bool,
    pool: Option<u64>,
    batch: u32,
    input: InputReport,
}

impl Ready {
    /// Reads or generates the sequences, and counts their k-mers on the CPU.
    ///
    /// # Errors
    /// A bad file, sequences without a k-mer, a device that fails.
    pub fn new(device: &Device, args: &KmerArgs) -> Result<Self, CliError> {
        let kernels = warpheap_applications::load(device)?;
        let (input, sequences) = input(args)?;
        let counts = reference::count(&sequences, args.k, args.canonical);
        if counts.total == 0 {
            return Err(CliError::Usage(format!(
                "there is no {}-mer: no sequence has so many known bases in a row",
                args.k
            )));
        }
        Ok(Ready {
            device: device.clone(),
            kernels,
            sequences,
            counts,
            canonical: args.canonical,
            pool: args.pool,
            batch: args.batch,
            input,
        })
    }

    /// What a run works with.
    pub fn context(&self) -> Context<'_> {
        Context {
            device: &self.device,
            kernels: &self.kernels,
            sequences: &self.sequences,
            counts: &self.counts,
            canonical: self.canonical,
            pool: self.pool,
            batch: self.batch,
            snapshots: &crate::heap_map::NONE,
            progress: Progress::detect(),
        }
    }
}

/// Reads or generates the sequences.
fn input(args: &KmerArgs) -> Result<(InputReport, Sequences), CliError> {
    let started = Instant::now();
    let (source, sequences) = match &args.file {
        Some(path) => {
            let (file, sequences) = read::read(path)?;
            (Source::File { file }, sequences)
        }
        None => {
            let seed = args.seed.unwrap_or(1);
            let bases = args.bases.unwrap_or(BASES);
            (Source::Reads { seed }, generate::reads(bases, seed))
        }
    };
    let report = InputReport {
        source,
        records: sequences.records,
        bases: sequences.len,
        unknown: sequences.unknown,
        load: started.elapsed(),
    };
    Ok((report, sequences))
}
