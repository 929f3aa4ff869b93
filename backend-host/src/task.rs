//! One piece of work of a stream, checked and complete: nothing of it is looked up when its turn comes.

use crate::emulator::Emulator;
use crate::job::Job;
use crate::kept::Slot;
use crate::span::Span;
use std::time::Instant;
use warpheap_api::host::{DeviceError, Work};

/// What a stream's thread does.
pub(crate) enum Task {
    /// Runs launches, each with its number among those of the device.
    Launches(Vec<(Job, u64)>),
    Write {
        to: Span,
        data: Vec<u8>,
    },
    Read {
        from: Span,
        into: Slot<Vec<u8>>,
    },
    Fill {
        to: Span,
        value: u32,
    },
    Copy {
        from: Span,
        to: Span,
    },
    Stamp(Slot<Instant>),
}

impl Task {
    /// Checks a piece of work.
    ///
    /// # Errors
    /// As those of the calls that do the same at once.
    pub(crate) fn new(emulator: &Emulator, work: Work<'_>) -> Result<Self, DeviceError> {
        let span = |what, place, bytes| emulator.memory().span(what, place, bytes);
        Ok(match work {
            Work::Launches(launches) => {
                let jobs = emulator.jobs(launches)?.into_iter();
                // Numbers say in which order launches were queued, whichever of them runs first: so a launch has the same
                // schedule each time that a seed is explored.
                Task::Launches(jobs.map(|job| (job, emulator.number())).collect())
            }
            Work::Write {
                buffer,
                offset,
                data,
            } => Task::Write {
                to: span("write", (buffer, offset), Some(data.len() as u64))?,
                data: data.to_vec(),
            },
            Work::Read {
                buffer,
                offset,
                bytes,
            } => Task::Read {
                from: span("read", (buffer, offset), Some(bytes))?,
                into: Slot::default(),
            },
            Work::Fill {
                buffer,
                offset,
                words,
                value,
            } => Task::Fill {
                to: span("fill", (buffer, offset), words.checked_mul(4))?,
                value,
            },
            Work::Copy { from, to, bytes } => {
                let (from, to) = emulator.memory().spans_of_copy(from, to, bytes)?;
                Task::Copy { from, to }
            }
            Work::Stamp => Task::Stamp(Slot::default()),
        })
    }

    /// Does it. `failed` is told what goes wrong with each launch; those behind it run all the same.
    ///
    /// # Safety
    /// No buffer of the work is given back before this returns.
    pub(crate) unsafe fn run(self, emulator: &Emulator, failed: impl Fn(DeviceError)) {
        match self {
            Task::Launches(jobs) => {
                for (job, number) in jobs {
                    let kernel = job.kernel;
                    match emulator.run(job, number) {
                        Ok(report) => {
                            if let Some(failure) = report.failure(kernel) {
                                failed(Box::new(failure).into());
                            }
                        }
                        Err(error) => failed(error),
                    }
                }
            }
            Task::Write { to, data } => {
                // SAFETY: the caller's promise.
                unsafe { to.write(&data) };
                emulator.wrote(&to);
            }
            Task::Read { from, into } => {
                let mut data = vec![0; from.len() * 4];
                // SAFETY: the caller's promise.
                unsafe { from.read(&mut data) };
                // A slot is filled once, so this cannot fail.
                let _ = into.set(data);
            }
            Task::Fill { to, value } => {
                // SAFETY: the caller's promise.
                unsafe { to.fill(value) };
                emulator.wrote(&to);
            }
            Task::Copy { from, to } => {
                // SAFETY: the caller's promise.
                unsafe { to.copy_from(&from) };
                emulator.wrote(&to);
            }
            Task::Stamp(at) => {
                let _ = at.set(Instant::now());
            }
        }
    }
}
