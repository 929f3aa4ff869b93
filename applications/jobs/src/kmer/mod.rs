//! The k-mers of DNA sequences, counted in a hash map that grows on the device.
//!
//! | module | what |
//! |---|---|
//! | `sequences`, [`read`], `generate` | sequences: what they are, FASTA files, generated ones |
//! | `tally` | how many k-mers were counted, how often they come, and the most frequent ones |
//! | `reference`, `survey` | what the CPU counts; how many k-mers there are, without counting each |
//! | `parts` | sequences in parts, one for each device, and the sums of what was counted |
//! | `arrivals` | pieces of sequences that are counted while others are on their way |
//! | `pool` | the pool that is enough |
//! | `allocators`, `run` | which allocators there are; one run on a device, and whether it is right |
//! | `options`, `ready` | what is asked for; what is made of it before the first run |
//! | [`report`] | what comes of it |
//! | [`ranks`] | the same by several processes |

mod allocators;
mod arrivals;
mod check;
pub(crate) mod generate;
mod options;
mod parts;
mod pool;
pub mod ranks;
pub mod read;
mod ready;
pub(crate) mod reference;
pub mod report;
mod run;
pub(crate) mod sequences;
mod survey;
mod tally;

pub use allocators::{Job, all, traced};
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
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    for allocator in allocators {
        let run = (allocator.job)(&context);
        match outcome(run, allocator, allocators.len())? {
            Ok(run) => {
                check_same(&runs, &run, &devices[0])?;
                runs.push(run);
            }
            Err(error) => left_out.push(LeftOut::new(allocator.name, &error)),
        }
    }
    let found = ready.found(&runs, options.top);
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
        total: ready.survey.total,
        distinct: found.distinct,
        top: named_top(found.top, options.k),
        spectrum: frequencies(found.spectrum),
        runs,
        checked: options.checked,
        carrier: None,
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

/// Holds what a run found against what the first one did: all that can be said of k-mers that the CPU has not counted.
fn check_same(runs: &[Run], run: &Run, device: &Device) -> Result<(), JobError> {
    match runs.first().unwrap_or(run).found == run.found {
        true => Ok(()),
        false => Err(JobError::Wrong {
            allocator: run.allocator,
            backend: device.info().backend.to_string(),
            what: "other k-mers were counted than in the first run".to_owned(),
        }),
    }
}

/// A spectrum as it is reported.
fn frequencies(spectrum: impl IntoIterator<Item = (u32, u64)>) -> Vec<Frequency> {
    let frequency = |(count, kmers)| Frequency { count, kmers };
    spectrum.into_iter().map(frequency).collect()
}

/// Frequent k-mers in letters.
fn named_top(top: Vec<(u64, u32)>, k: u32) -> Vec<Top> {
    let named = |(kmer, count)| Top {
        kmer: sequences::letters(kmer, k),
        count,
    };
    top.into_iter().map(named).collect()
}
