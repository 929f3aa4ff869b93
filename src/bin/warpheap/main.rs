//! The `warpheap` command line: runs the graph job, and looks at the machine.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `graph` | `warpheap` and `warpheap graph`: a graph built inside kernels that allocate |
//! | `doctor` | `warpheap doctor`: backends, devices, toolchains |
//! | `error` | what can fail, with which exit code |
//! | `progress`, `size`, `text` | bars, byte sizes, numbers and tables |

mod args;
mod doctor;
mod error;
mod graph;
mod progress;
mod size;
mod text;

use args::{Cli, Command};
use clap::Parser;
use error::CliError;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli).and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}

/// Does what was asked and gives all that is to be printed: nothing comes out of a command that fails.
fn run(cli: &Cli) -> Result<String, CliError> {
    match &cli.command {
        None => graph::table(&cli.job),
        Some(Command::Graph(args)) => graph::one(args),
        Some(Command::Doctor { json }) => doctor::run(*json),
    }
}

fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough, as with `| head`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
