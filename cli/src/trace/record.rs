//! `warpheap trace record`: a job whose heap keeps a trace.

use super::{Job, RecordArgs};
use crate::error::CliError;
use crate::progress::Bars;
use crate::{graph, join, kmer, text};
use std::sync::{Mutex, PoisonError};
use warpheap::{RawPool, Trace, trace_of};
use warpheap_jobs::error::JobError;
use warpheap_jobs::progress::{Bar, Progress};
use warpheap_jobs::trace::file;

/// A job that shows how far it is, and the trace of its last heap.
struct Recorder {
    bars: Bars,
    trace: Mutex<Option<Trace>>,
}

impl Progress for Recorder {
    fn bar(&self, label: String, total: u64) -> Box<dyn Bar> {
        self.bars.bar(label, total)
    }

    fn heap_ends(&self, pool: &RawPool) -> Result<(), JobError> {
        if let Some(trace) = trace_of(pool)? {
            let mut last = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(trace);
        }
        Ok(())
    }
}

/// Runs the job and writes the trace, also of a job that fails: its heap may be full.
///
/// # Errors
/// Those of the job; a file that cannot be written.
pub fn run(args: &RecordArgs) -> Result<String, CliError> {
    crate::plot::check(Some(&args.output))?;
    let recorder = Recorder {
        bars: Bars::detect(),
        trace: Mutex::new(None),
    };
    let (done, json) = match &args.job {
        Job::Join(job) => (join::traced(job, &recorder), job.json),
        Job::Kmer(job) => (kmer::traced(job, &recorder), job.json),
        Job::Graph(job) => (graph::traced(job, &recorder), job.job.json),
    };
    let Some(trace) = recorder
        .trace
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    else {
        return done;
    };
    file::write(&args.output, &trace)?;
    let text = done?;
    Ok(match json {
        true => text,
        false => text + &told(&trace, args),
    })
}

/// What was written.
fn told(trace: &Trace, args: &RecordArgs) -> String {
    let events = text::grouped(trace.events.len() as u64);
    let file = args.output.display();
    let lost = match trace.lost {
        0 => String::new(),
        lost => format!(", {} lost: give a larger --pool", text::grouped(lost)),
    };
    format!("\n{events} requests in {file}{lost}; `warpheap trace show {file}` shows them\n")
}
