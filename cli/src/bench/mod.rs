//! `warpheap bench`: runs the lab's scenarios, shows tables, writes files, compares with earlier runs.
//!
//! | module | what |
//! |---|---|
//! | here | the options, and what is done in which order |
//! | `command` | the command line as it was given |
//! | `programs` | what the lab measures beside its own kernels |

mod command;
mod programs;

use crate::done::Done;
use crate::error::CliError;
use crate::progress::Bars;
use clap::Args;
use std::path::{Path, PathBuf};
use warpheap::{Device, DeviceInfo};
use warpheap_bench::options::Options;
use warpheap_bench::plan::Plan;
use warpheap_bench::replay::Script;
use warpheap_bench::report::compare::{self, Comparison, NOISE};
use warpheap_bench::report::peers::Peers;
use warpheap_bench::report::{Report, ReportError, json, table, text};
use warpheap_bench::row::Row;
use warpheap_bench::run::Run;
use warpheap_bench::{BenchError, allocators};
use warpheap_jobs::device;
use warpheap_jobs::progress::Bar;
use warpheap_jobs::trace::file;

/// Options of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// What is measured.
    #[command(flatten)]
    options: Options,
    /// Replay a trace that `warpheap trace record` wrote: scenario S20, and no other unless --scenario names some
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Backend: host, cuda or vulkan [default: the best one present, or $WARPHEAP_BACKEND]
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// Device: its number or a part of its name, as `warpheap doctor` shows them
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Write results.json, results.csv, a plot of each scenario and report.html into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compare with the results.json of an earlier run; exit code 3 if something became worse
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// What counts as noise when comparing, unless the measurements themselves vary more
    #[arg(long, value_name = "PERCENT", requires = "compare", default_value_t = NOISE,
          value_parser = percent)]
    noise: f64,
    /// Figures of other allocators to show beside [default: on an H200, what was measured on one]
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
}

/// Measures, and gives what is to be printed.
///
/// # Errors
/// A file that cannot be used, a device that is not there, an allocator or a size that is not possible:
/// all before the first measurement. What comes of the measurements is in [`Done::verdict`].
pub fn run(args: &BenchArgs) -> Result<Done, CliError> {
    let earlier = args.compare.as_deref().map(json::read).transpose()?;
    let given = args.peers.as_deref().map(Peers::read).transpose()?;
    let options = Options {
        replay: args.replay.as_deref().map(script).transpose()?,
        ..args.options.clone()
    };
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|source| ReportError::Write {
            path: folder.clone(),
            source,
        })?;
    }
    let device = device::open(args.backend.as_deref(), args.device.as_deref())?;
    let info = device.info();
    let backend = info.backend.name();
    if let Some(earlier) = &earlier {
        compare::check(earlier, backend, &info.name, info.warp_width)?;
    }
    let peers = match given {
        Some(peers) => peers,
        None => Peers::built_in(backend, &info.name)?,
    };
    let run = measure(&device, &options)?;

    let mut printed = table::tables(&run, &peers);
    let comparison = earlier.map(|earlier| Comparison::new(&earlier, &run, args.noise));
    let comparison = comparison.transpose();
    let mut verdict = right(&run);
    match &comparison {
        Ok(Some(comparison)) => {
            printed += &comparison.text();
            verdict = verdict.and(
                comparison
                    .regressions()
                    .map_or(Ok(()), |text| Err(CliError::Slower(text))),
            );
        }
        Ok(None) => {}
        Err(error) => verdict = verdict.and(Err(CliError::Usage(error.to_string()))),
    }
    if let Some(folder) = &args.out {
        let report = Report {
            run: &run,
            peers: &peers,
            comparison: comparison.as_ref().ok().and_then(Option::as_ref),
            command: &command::line(),
        };
        match report.write(folder) {
            Ok(files) => {
                let page = files.last().map(|file| file.display().to_string());
                eprintln!("wrote {} files: {}", files.len(), page.unwrap_or_default());
            }
            // Without its files the run is a failure, whatever else is to be said.
            Err(error) => verdict = Err(error.into()),
        }
    }
    Ok(Done {
        text: printed,
        verdict,
    })
}

/// Reads a trace, and says what cannot be replayed of it.
fn script(path: &Path) -> Result<Script, CliError> {
    let trace = file::read(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let script = Script::new(&trace, &name.to_string_lossy())?;
    if trace.lost + script.left_out != 0 {
        eprintln!(
            "{}: {} events were lost when it was recorded, {} are left out since their blocks are not in it",
            path.display(),
            trace.lost,
            script.left_out
        );
    }
    Ok(script)
}

/// The measurements, with a bar on a terminal and a line for each elsewhere.
fn measure(device: &Device, options: &Options) -> Result<Run, BenchError> {
    let info = device.info();
    let progress = Bars::detect();
    let programs = programs::asked(device, options);
    let bar = progress.begin(String::new(), cells(options, info, programs.len())?);
    eprintln!("{}: {} ({})", info.backend.name(), info.name, info.driver);
    let tell = |row: &Row| {
        bar.advance(1);
        match progress.is_shown() {
            true => bar.label(format!("{} {}", row.scenario.name(), row.allocator)),
            false => eprintln!("{}", text::line(row)),
        }
    };
    warpheap_bench::run(device, options, programs, tell)
}

/// How many cells will be measured, with so many programs.
fn cells(options: &Options, info: &DeviceInfo, programs: usize) -> Result<u64, BenchError> {
    let entries = allocators::chosen(&options.allocator)?;
    let each = Plan::new(options, info)?.cells.len() + programs;
    Ok((entries.len() * each) as u64)
}

/// Whether everything that was handed out was right.
fn right(run: &Run) -> Result<(), CliError> {
    let wrong = run.rows.iter().filter(|row| !row.right);
    let wrong: Vec<String> = wrong.map(text::line).collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(CliError::Overlap(wrong.join("; "))),
    }
}

/// Reads a share of a hundred that may be more.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent),
        _ => Err(format!(
            "`{text}` is no percentage: write a number such as 10"
        )),
    }
}
