//! `warpheap-bench`: measures, prints a table, writes files.

use clap::Parser;
use std::process::ExitCode;
use warpheap::Device;
use warpheap_bench::options::Options;
use warpheap_bench::{BenchError, table};

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!(
                "error: memory was handed out that may not be; the rows marked WRONG say where"
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything that was handed out was right.
fn measure(options: &Options) -> Result<bool, BenchError> {
    let device = Device::open_named(options.backend.as_deref(), options.device.as_deref())?;
    let info = device.info();
    eprintln!("{}: {} ({})", info.backend, info.name, info.driver);
    let report = warpheap_bench::run(&device, options, |row| {
        eprintln!(
            "{} {} {} B x {}: {}",
            row.scenario.name(),
            row.allocator,
            row.size,
            row.n,
            row.status
        );
    })?;
    print!("{}", table::table(&report.rows));
    report.write(options.json.as_deref(), options.csv.as_deref())?;
    Ok(report.is_right())
}
