//! The options of the command line.

use super::bench::BenchArgs;
use super::graph::args::{GraphArgs, JobArgs};
use super::heap_map::again;
use super::join::args::JoinArgs;
use super::kmer::args::KmerArgs;
use super::new::NewArgs;
use super::soak::SoakArgs;
use super::trace::TraceCommand;
use clap::{Parser, Subcommand};
use warpheap_toolchain::{compilers, kernels};

/// Dynamic memory allocation for code that runs on a GPU.
///
/// Without a command: builds a generated graph inside kernels that allocate, once with every
/// allocator, and shows the runs as one table.
#[derive(Debug, Parser)]
#[command(name = "warpheap", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; the table over all allocators when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the table.
    #[command(flatten)]
    pub job: JobArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build a graph inside kernels that allocate, rank its vertices, and check both against the CPU.
    ///
    /// Processes that `mpirun` starts build a part each and rank together, in builds with the feature `mpi`.
    Graph(GraphArgs),
    /// Join two tables by hashing inside kernels that get pages for what they find, and check it against the CPU.
    ///
    /// Processes that `mpirun` starts join together, in builds with the feature `mpi`.
    Join(JoinArgs),
    /// Count the k-mers of DNA sequences in a hash map that grows on the device, and check them against the CPU.
    ///
    /// Processes that `mpirun` starts count together, in builds with the feature `mpi`.
    Kmer(KmerArgs),
    /// Measure the allocators: times beside floors, utilisation, latency, and more; tables and plots.
    Bench(BenchArgs),
    /// Work heaps for a long time with a random mix of all operations; stop at the first thing that is wrong.
    Soak(SoakArgs),
    /// Draw a map of a heap again that `--heap-map FILE.json` of a job wrote: as a page, a picture or text.
    HeapMap(again::Args),
    /// Keep what lanes ask of a heap in a file, and show it.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Make a project to start from: kernels that allocate, the program that launches them, tests.
    New(NewArgs),
    /// Look for the compilers for device code, make them where there are none (Debian), and try them.
    Toolchain(compilers::Args),
    /// Compile the kernels of the project that this folder is in, into its folder `prebuilt`, or check those that are there.
    Kernels(kernels::Args),
    /// Show backends, devices and toolchains, and what to do about each gap.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl Command {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Graph(_) => "graph",
            Command::Join(_) => "join",
            Command::Kmer(_) => "kmer",
            Command::Bench(_) => "bench",
            Command::Soak(_) => "soak",
            Command::HeapMap(_) => "heap-map",
            Command::Trace(_) => "trace",
            Command::New(_) => "new",
            Command::Toolchain(_) => "toolchain",
            Command::Kernels(_) => "kernels",
            Command::Doctor { .. } => "doctor",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn commands_know_their_names() {
        for line in ["graph", "join", "kmer", "bench", "soak", "doctor"] {
            let command = Cli::parse_from(["warpheap", line]).command;
            assert_eq!(command.map(|command| command.name()), Some(line));
        }
        for line in [["heap-map", "a.json"], ["new", "a"], ["trace", "show"]] {
            let args = ["warpheap", line[0], line[1], "a.trace"];
            let taken = if line[0] == "trace" { 4 } else { 3 };
            let command = Cli::parse_from(&args[..taken]).command;
            assert_eq!(command.map(|command| command.name()), Some(line[0]));
        }
    }

    #[test]
    fn options_work_with_and_without_a_command() {
        let cli = Cli::parse_from(["warpheap", "--pool", "64M", "--json"]);
        assert!(cli.command.is_none() && cli.job.json);
        assert_eq!(cli.job.pool, Some(64 << 20));
        let cli = Cli::parse_from(["warpheap", "graph", "a.mtx", "--allocator", "a,b"]);
        let Some(Command::Graph(graph)) = cli.command else {
            panic!("no graph command in {cli:?}");
        };
        assert_eq!(graph.file, Some("a.mtx".into()));
        assert_eq!(graph.job.allocator, ["a", "b"]);
        assert_eq!(graph.job.iterations, 20);
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "warpheap --batch 0",
            "warpheap --pool lots",
            "warpheap --scale 0",
            "warpheap --scale 29",
            "warpheap --iterations 0",
            "warpheap --edge-factor 0",
            "warpheap sing",
            "warpheap graph --one-based",
            "warpheap --json graph",
        ] {
            let parsed = Cli::try_parse_from(line.split(' '));
            assert!(parsed.is_err(), "{line} was accepted: {parsed:?}");
        }
    }
}
