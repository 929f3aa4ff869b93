//! The `warpheap` command line: runs the jobs of `warpheap-jobs`, measures, and looks at the machine.
//!
//! | module | what |
//! |---|---|
//! | `args` | the options |
//! | `graph` | `warpheap` and `warpheap graph`: a graph built inside kernels that allocate |
//! | `join` | `warpheap join`: a hash join that writes its matches into pages of the heap |
//! | `bench` | `warpheap bench`: scenarios, tables, plots, comparisons |
//! | `soak` | `warpheap soak`: long runs that look whether heaps stay right |
//! | `kmer` | `warpheap kmer`: the k-mers of DNA sequences, counted in a hash map |
//! | `heap_map` | `--heap-map`, `warpheap heap-map`: what each part of a heap is used for, as text, pictures and pages |
//! | `trace` | `warpheap trace`: what lanes asked of a heap, kept in a file and shown |
//! | `new` | `warpheap new`: a project to start from |
//! | `project` | `warpheap toolchain`, `warpheap kernels`: compilers and images of a project |
//! | `device`, `left_out` | what reports say of the device, and of allocators that cannot do a job |
//! | `doctor` | `warpheap doctor`: backends, devices, toolchains |
//! | `done`, `error` | what comes of a command; what can fail, with which exit code |
//! | `ranks` | commands that several processes do together |
//! | `plot` | plots |
//! | `progress`, `size`, `text` | bars, byte sizes, numbers and tables |

mod args;
mod bench;
mod device;
mod doctor;
mod done;
mod error;
mod graph;
mod heap_map;
mod join;
mod kmer;
mod left_out;
mod new;
mod plot;
mod progress;
mod project;
mod ranks;
mod size;
mod soak;
mod text;
mod trace;

use args::{Cli, Command};
use clap::Parser;
use done::Done;
use error::CliError;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli).and_then(|done| print(&done.text).and(done.verdict)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.code())
        }
    }
}

/// Does what was asked: nothing is printed by a command that fails, except measurements that are there
/// and are no good.
fn run(cli: &Cli) -> Result<Done, CliError> {
    match &cli.command {
        Some(Command::Graph(_) | Command::Join(_) | Command::Kmer(_)) => {}
        Some(Command::Doctor { .. }) => ranks::each("warpheap doctor"),
        Some(other) => ranks::alone(&format!("warpheap {}", other.name()))?,
        None => ranks::alone("warpheap")?,
    }
    match &cli.command {
        None => graph::table(&cli.job).map(Done::from),
        Some(Command::Graph(args)) => graph::one(args).map(Done::from),
        Some(Command::Join(args)) => join::run(args).map(Done::from),
        Some(Command::Kmer(args)) => kmer::run(args).map(Done::from),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Soak(args)) => soak::run(args),
        Some(Command::HeapMap(args)) => heap_map::again::run(args).map(Done::from),
        Some(Command::Trace(args)) => trace::run(args).map(Done::from),
        Some(Command::New(args)) => new::run(args).map(Done::from),
        Some(Command::Toolchain(args)) => project::toolchain(args),
        Some(Command::Kernels(args)) => project::kernels(args),
        Some(Command::Doctor { json }) => doctor::run(*json).map(Done::from),
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
