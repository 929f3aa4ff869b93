//! Runs kernels with every allocator on a backend, and checks what they leave on the CPU.
//!
//! One line for each kernel and allocator says `ok` with the time on the device, `refused` with the reason where an
//! allocator or a backend cannot do that by design, or `FAILED`; it exits with 1 if any failed.

use outside::alone;
use outside::arguments::{self, Arguments, USAGE};
use outside::list::{self, Job};
use outside::report::Line;
use outside::stage::Stage;
use std::error::Error;
use std::process::ExitCode;
use warpheap::DeviceError;

fn main() -> ExitCode {
    let mut given = std::env::args().skip(1).peekable();
    if given.peek().is_some_and(|option| option == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match start(given) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How many jobs failed.
fn start(given: impl Iterator<Item = String>) -> Result<usize, Box<dyn Error>> {
    let arguments = arguments::parse(given)?;
    let jobs = list::chosen(&arguments.kernel, &arguments.allocator)?;
    let failed = match arguments.alone {
        Some(longest) => {
            let run = |job: &Job| {
                let (line, good) = alone::run(&arguments, job, longest);
                println!("{line}");
                !good
            };
            jobs.iter().filter(|job| run(job)).count()
        }
        None => together(&arguments, &jobs)?,
    };
    println!("{} passed, {failed} failed", jobs.len() - failed);
    Ok(failed)
}

/// Runs jobs one after the other on one device; how many failed.
fn together(arguments: &Arguments, jobs: &[Job]) -> Result<usize, DeviceError> {
    let open = || Stage::open(arguments.backend, arguments.lanes, arguments.pool_bytes);
    let mut stage = open()?;
    let info = stage.device.info();
    println!("{} ({}), {} lanes", info.name, info.backend, stage.lanes);
    let mut failed = 0;
    for job in jobs {
        let outcome = (job.run)(&stage);
        let (kernel, allocator) = (job.kernel, job.allocator);
        let line = Line {
            kernel,
            allocator,
            outcome: &outcome,
        };
        println!("{line}");
        if let Err(error) = &outcome {
            failed += 1;
            // A driver may give the device again; if it does not, the next job says so.
            if let Some(DeviceError::Lost { .. }) = error.downcast_ref() {
                stage = open()?;
            }
        }
    }
    Ok(failed)
}
