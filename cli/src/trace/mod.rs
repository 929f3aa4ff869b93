//! `warpheap trace`: what lanes asked of a heap, kept in a file and shown.
//!
//! | module | what |
//! |---|---|
//! | `record` | a job whose heap keeps a trace |
//! | `show` | a trace as tables |
//! | `perfetto` | a trace as a time line, for Perfetto |

mod perfetto;
mod record;
mod show;

use crate::error::CliError;
use crate::graph::args::GraphArgs;
use crate::join::args::JoinArgs;
use crate::kmer::args::KmerArgs;
use clap::Subcommand;
use std::path::PathBuf;

/// What `trace` does.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Run a job with WarpHeap, and write what its lanes asked of the heap to a file.
    Record(Box<RecordArgs>),
    /// Show a trace: what was asked for, by kernel and by size.
    Show(ShowArgs),
}

/// Options of `trace record`.
#[derive(Debug, clap::Args)]
pub struct RecordArgs {
    /// Where the trace is written to.
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "heap.trace",
        global = true
    )]
    output: PathBuf,
    /// The job.
    #[command(subcommand)]
    job: Job,
}

/// A job that can keep a trace.
#[derive(Debug, Subcommand)]
enum Job {
    /// `warpheap join`, with one probe.
    Join(JoinArgs),
    /// `warpheap kmer`, on one device.
    Kmer(KmerArgs),
    /// `warpheap graph`, which builds a graph.
    Graph(GraphArgs),
}

/// Options of `trace show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// What `trace record` wrote.
    file: PathBuf,
    /// Write a time line instead, which <https://ui.perfetto.dev> opens: launches, bytes in use, requests.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    perfetto: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The command `trace`.
///
/// # Errors
/// Options that make no sense, a file that is no trace, one that cannot be written, a job that fails.
pub fn run(command: &TraceCommand) -> Result<String, CliError> {
    match command {
        TraceCommand::Record(args) => record::run(args),
        TraceCommand::Show(args) => show::run(args),
    }
}

/// Refuses options for what a job draws.
///
/// # Errors
/// [`CliError::Usage`] if there are some.
pub fn undrawn(job: &str, draws: bool) -> Result<(), CliError> {
    match draws {
        true => Err(CliError::Usage(format!(
            "a job that is recorded draws nothing: give --heap-map and --plot to `warpheap {job}`"
        ))),
        false => Ok(()),
    }
}
