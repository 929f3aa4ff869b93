//! `warpheap soak`: works heaps for a long time with a random mix of all operations, and stops at the first thing that is wrong.
//!
//! | module | what |
//! |---|---|
//! | here | the options, and what is done in which order |
//! | `show` | what is printed |

mod show;

use crate::done::Done;
use crate::error::CliError;
use crate::progress::Bars;
use crate::text::{self, grouped};
use clap::Args;
use std::time::Duration;
use warpheap::DeviceError;
use warpheap_bench::BenchError;
use warpheap_bench::soak::{self, Options, Progress, Report};
use warpheap_jobs::device;
use warpheap_jobs::progress::Bar;

/// Between lines that tell how far a run is, where there is no terminal.
const TELLS: Duration = Duration::from_secs(60);
/// Between changes of the line on a terminal.
const CHANGES: Duration = Duration::from_millis(250);

/// Steps of the bar.
const STEPS: u64 = 100;

/// Options of `soak`.
#[derive(Debug, Args)]
pub struct SoakArgs {
    /// How long, with what, how.
    #[command(flatten)]
    options: Options,
    /// Backend: host, cuda or vulkan [default: the best one present, or $WARPHEAP_BACKEND]
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// Device: its number or a part of its name, as `warpheap doctor` shows them
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Works heaps, and gives what is to be printed.
///
/// # Errors
/// A device that is not there, an allocator or a pool that is not possible: all before the first launch. What is found wrong is in
/// [`Done::verdict`].
pub fn run(args: &SoakArgs) -> Result<Done, CliError> {
    soak::allocators(&args.options)?;
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let report = worked(args, &device)?;
    let text = match args.json {
        true => text::json(&report)?,
        false => show::text(&report),
    };
    let verdict = match &report.fault {
        None => Ok(()),
        Some(found) => Err(CliError::Unsound(found.to_string())),
    };
    Ok(Done { text, verdict })
}

/// The run, with a line that tells how far it is.
fn worked(args: &SoakArgs, device: &warpheap::Device) -> Result<Report, CliError> {
    let bars = Bars::detect();
    let line = bars.begin(String::new(), STEPS);
    let mut shown = 0;
    let every = if bars.is_shown() { CHANGES } else { TELLS };
    let mut next = every;
    let tell = |progress: Progress| {
        if progress.elapsed < next {
            return;
        }
        next = progress.elapsed + every;
        match bars.is_shown() {
            true => {
                let steps = (progress.done * STEPS as f64) as u64;
                line.advance(steps.saturating_sub(std::mem::replace(&mut shown, steps)));
                line.label(so_far(&progress));
            }
            // Whoever reads JSON wants nothing else.
            false if args.json => {}
            false => eprintln!("{}", so_far(&progress)),
        }
    };
    soak::run(device, &args.options, tell).map_err(usage)
}

/// A pool that cannot be is the user's to change.
fn usage(error: BenchError) -> CliError {
    match error {
        BenchError::Device(
            error @ (DeviceError::Plan(_)
            | DeviceError::OutOfMemory { .. }
            | DeviceError::TooLarge { .. }),
        ) => CliError::Usage(format!("--pool: {error}")),
        error => error.into(),
    }
}

fn so_far(progress: &Progress) -> String {
    let Progress {
        allocator,
        elapsed,
        operations,
        rate,
        cycle,
        phase,
        ..
    } = progress;
    format!(
        "{:.0} s: {allocator}, {} operations, {} a second, cycle {cycle}, {phase}",
        elapsed.as_secs_f64(),
        grouped(*operations),
        grouped(*rate as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap_bench::soak::Phase;

    #[test]
    fn a_line_tells_how_far_a_run_is() {
        let line = so_far(&Progress {
            allocator: "WarpHeap",
            elapsed: Duration::from_millis(61_400),
            done: 0.5,
            operations: 1_234_567,
            rate: 20_576.1,
            cycle: 8,
            phase: Phase::Churn,
        });
        let expected = "61 s: WarpHeap, 1,234,567 operations, 20,576 a second, cycle 8, churn";
        assert_eq!(line, expected);
    }
}
