//! What is made before the first run.

use super::options::{Input, Options};
use super::reference::{self, Counts};
use super::report::{InputReport, Source};
use super::run::Context;
use super::sequences::Sequences;
use super::{generate, read};
use crate::error::JobError;
use crate::progress::Progress;
use std::time::Instant;
use warpheap::Device;
use warpheap_applications::Kernels;

/// Sequences that are ready to be counted with any allocator.
pub struct Ready {
    devices: Vec<(Device, Kernels)>,
    sequences: Sequences,
    /// What the CPU counts.
    pub counts: Counts,
    canonical: bool,
    pool: Option<u64>,
    batch: u32,
    /// What they are.
    pub input: InputReport,
}

impl Ready {
    /// Reads or generates the sequences, and counts their k-mers on the CPU.
    ///
    /// # Errors
    /// Settings out of bounds, a bad file, sequences without a k-mer, a device that fails.
    pub fn new(device: &Device, options: &Options) -> Result<Self, JobError> {
        Self::on(std::slice::from_ref(device), options)
    }

    /// The same for several devices, of which each counts a part; at least one.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on(devices: &[Device], options: &Options) -> Result<Self, JobError> {
        options.check()?;
        let loaded = |device: &Device| Ok((device.clone(), warpheap_applications::load(device)?));
        let devices = devices.iter().map(loaded);
        let devices = devices.collect::<Result<Vec<_>, JobError>>()?;
        if devices.is_empty() {
            return Err(JobError::Usage("there is no device to count on".into()));
        }
        let (input, sequences) = input(&options.input)?;
        let counts = reference::count(&sequences, options.k, options.canonical);
        if counts.total == 0 {
            return Err(no_kmer(options.k));
        }
        Ok(Self::of(devices, sequences, counts, options, input))
    }

    /// Sequences whose k-mers the CPU has counted; there may be none.
    pub(super) fn of(
        devices: Vec<(Device, Kernels)>,
        sequences: Sequences,
        counts: Counts,
        options: &Options,
        input: InputReport,
    ) -> Self {
        Ready {
            devices,
            sequences,
            counts,
            canonical: options.canonical,
            pool: options.pool,
            batch: options.batch,
            input,
        }
    }

    /// What a run works with.
    pub fn context<'a>(&'a self, progress: &'a dyn Progress) -> Context<'a> {
        Context {
            devices: &self.devices,
            sequences: &self.sequences,
            counts: &self.counts,
            canonical: self.canonical,
            pool: self.pool,
            batch: self.batch,
            progress,
        }
    }
}

/// The error for sequences without a k-mer.
pub(super) fn no_kmer(k: u32) -> JobError {
    JobError::Usage(format!(
        "there is no {k}-mer: no sequence has so many known bases in a row"
    ))
}

/// Reads or generates the sequences.
fn input(input: &Input) -> Result<(InputReport, Sequences), JobError> {
    let started = Instant::now();
    let (source, sequences) = match input {
        Input::File(path) => {
            let (file, sequences) = read::read(path)?;
            (Source::File { file }, sequences)
        }
        &Input::Reads { bases, seed } => (Source::Reads { seed }, generate::reads(bases, seed)),
    };
    let report = InputReport {
        source,
        records: sequences.records.into(),
        bases: sequences.len.into(),
        unknown: sequences.unknown,
        load: started.elapsed(),
    };
    Ok((report, sequences))
}
