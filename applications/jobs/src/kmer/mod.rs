//! The k-mers of DNA sequences, counted in a hash map that grows on the device.
//!
//! | module | what |
//! |---|---|
//! | `sequences`, [`read`], `generate` | sequences: what they are, FASTA files, generated ones |
//! | `reference` | what the CPU counts |
//! | `parts` | sequences in parts, one for each device, and the sums of what was counted |
//! | `pool` | the pool that is enough |
//! | `allocators`, `run` | which allocators there are; one run on a device, and whether it is right |
//! | `options`, `ready` | what is asked for; what is made of it before the first run |
//! | [`report`] | what comes of it |
//! | [`ranks`] | the same by several processes |

mod allocators;
mod generate;
mod options;
mod parts;
mod pool;
pub mod ranks;
pub mod read;
mod ready;
mod reference;
pub mod report;
mod run;
mod sequences;

pub use allocators::{Job, all};
pub use options::{Input, MOST_BASES, Options};
pub use ready::Ready;
pub use reference::Counts;
pub use run::Context;
pub use sequences::Sequences;

use crate::allocators::{Allocator, LeftOut};
use crate::device::DeviceReport;
use crate::error::JobError;
use crate::pool::Failure;
use crate::progress::Progress;
use report::{Frequency, Report, Run, SCHEMA, Top};
use warpheap::Device;

/// Counts the k-mers with each of these allocators, and checks the counts against the CPU's.
///
/// # Errors
/// Settings that make no sense, a bad file, a device that fails or counts wrongly; an allocator that cannot do it, if it is
/// the only one or was asked for by name.
pub fn run(
    device: &Device,
    allocators: &[Allocator<Job>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report, JobError> {
    run_on(std::slice::from_ref(device), allocators, options, progress)
}

/// The same on several devices at once, at least one: each counts a part of the k-mers in a map of its own, with a pool of
/// [`Options::pool`] bytes, and the host adds up what they counted. Of several heaps no snapshots are taken.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    devices: &[Device],
    allocators: &[Allocator<Job>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report, JobError> {
    let ready = Ready::on(devices, options)?;
    let context = ready.context(progress);
    let counts = &ready.counts;
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    for allocator in allocators {
        let run = (allocator.job)(&context);
        match outcome(run, allocator, allocators.len())? {
            Ok(run) => runs.push(run),
            Err(error) => left_out.push(LeftOut::new(allocator.name, &error)),
        }
    }
    let frequency = |(count, kmers)| Frequency { count, kmers };
    Ok(Report {
        schema: SCHEMA,
        device: DeviceReport::from(&devices[0]),
        devices: match devices {
            [_] => Vec::new(),
            several => several.iter().map(DeviceReport::from).collect(),
        },
        input: ready.input.clone(),
        k: options.k,
        canonical: options.canonical,
        total: counts.total,
        distinct: counts.distinct(),
        top: named_top(counts.top(options.top), options.k),
        spectrum: counts.spectrum().into_iter().map(frequency).collect(),
        runs,
        left_out,
        ranks: Vec::new(),
    })
}

/// A run, or why one of `number` allocators is left out; an error is what ends the job.
fn outcome(
    run: Result<Run, Failure>,
    allocator: &Allocator<Job>,
    number: usize,
) -> Result<Result<Run, JobError>, JobError> {
    match run {
        Ok(run) => Ok(Ok(run)),
        Err(Failure::Other(error)) => Err(error),
        Err(Failure::Cannot(error)) if allocator.by_name || number == 1 => Err(error),
        // A table of all is not worth less for one that is missing.
        Err(Failure::Cannot(error)) => Ok(Err(error)),
    }
}

/// Frequent k-mers in letters.
fn named_top(top: Vec<(u64, u32)>, k: u32) -> Vec<Top> {
    let named = |(kmer, count)| Top {
        kmer: sequences::letters(kmer, k),
        count,
    };
    top.into_iter().map(named).collect()
}
