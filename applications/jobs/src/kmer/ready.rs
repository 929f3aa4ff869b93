//! What is made before the first run.

use super::options::{Input, Options};
use super::reference::{self, Counts};
use super::report::{Found, InputReport, Run, Source};
use super::run::Context;
use super::sequences::Sequences;
use super::survey::{Survey, survey};
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
    /// How many k-mers there are.
    pub(super) survey: Survey,
    /// What the CPU counts, if it does.
    pub(super) counts: Option<Counts>,
    k: u32,
    top: usize,
    canonical: bool,
    pool: Option<u64>,
    batch: u32,
    /// What they are.
    pub input: InputReport,
}

impl Ready {
    /// Reads or generates the sequences, and counts their k-mers on the CPU, unless nothing is checked.
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
        let ready = Self::of(devices, sequences, options, input);
        match ready.survey.total {
            0 => Err(no_kmer(options.k)),
            _ => Ok(ready),
        }
    }

    /// The same of sequences that are there; there may be none.
    pub(super) fn of(
        devices: Vec<(Device, Kernels)>,
        sequences: Sequences,
        options: &Options,
        input: InputReport,
    ) -> Self {
        let (k, canonical) = (options.k, options.canonical);
        let counts = options
            .checked
            .then(|| reference::count(&sequences, k, canonical));
        let survey = match &counts {
            Some(counts) => Survey {
                total: counts.total,
                distinct: counts.distinct(),
            },
            None => survey(&sequences, k, canonical),
        };
        Ready {
            devices,
            sequences,
            survey,
            counts,
            k,
            top: options.top,
            canonical,
            pool: options.pool,
            batch: options.batch,
            input,
        }
    }

    /// What is reported, with the `top` most frequent k-mers: as the CPU counted, or what the first run found.
    pub(super) fn found(&self, runs: &[Run], top: usize) -> Found {
        match &self.counts {
            Some(counts) => counts.found(top),
            None => {
                let found = runs.first().and_then(|run| run.found.clone());
                found.unwrap_or_default()
            }
        }
    }

    /// What a run works with.
    pub fn context<'a>(&'a self, progress: &'a dyn Progress) -> Context<'a> {
        Context {
            devices: &self.devices,
            sequences: &self.sequences,
            survey: self.survey,
            counts: self.counts.as_ref(),
            k: self.k,
            top: self.top,
            canonical: self.canonical,
            pool: self.pool,
            batch: self.batch,
            arrivals: None,
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
