//! The options of the command line.

use super::bench::BenchArgs;
use super::graph::generate::Kind;
use super::graph::generate::rmat::MAX_SCALE;
use super::join::args::JoinArgs;
use super::kmer::args::KmerArgs;
use super::new::NewArgs;
use super::size;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
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
    Graph(GraphArgs),
    /// Join two tables by hashing inside kernels that get pages for what they find, and check it against the CPU.
    Join(JoinArgs),
    /// Count the k-mers of DNA sequences in a hash map that grows on the device, and check them against the CPU.
    Kmer(KmerArgs),
    /// Measure the allocators: times beside floors, utilisation, latency, and more; tables and plots.
    Bench(BenchArgs),
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

/// Options of `graph`.
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// Matrix Market file or edge list (`-`: standard input); an R-MAT graph when left out.
    ///
    /// Self loops and duplicate edges are kept, weights are ignored, and entries off the diagonal of a
    /// symmetric matrix become two edges.
    pub file: Option<PathBuf>,
    /// The edge list counts vertices from 1.
    #[arg(long, requires = "file")]
    pub one_based: bool,
    /// Add the opposite of every edge.
    #[arg(long, requires = "file")]
    pub undirected: bool,
    /// Drop self loops and duplicate edges.
    #[arg(long)]
    pub simple: bool,
    /// Options of a graph that changes.
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Options shared with the table.
    #[command(flatten)]
    pub job: JobArgs,
}

/// Options of a graph whose edges come and go.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "A graph that changes")]
pub struct ChangeArgs {
    /// Insert random edges in this many rounds, then delete them in as many; compare with compressed sparse rows
    /// that are rebuilt. The graph is made simple.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub rounds: u32,
    /// Edges of a round.
    #[arg(long, value_name = "EDGES", default_value_t = 100_000, requires = "rounds",
          value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    pub updates: u32,
    /// Put the pressure on this many vertices instead of all.
    #[arg(long, value_name = "VERTICES", requires = "rounds", value_parser = clap::value_parser!(u32).range(1..))]
    pub focus: Option<u32>,
    /// Count the triangles of the initial graph, which is made undirected.
    #[arg(long)]
    pub triangles: bool,
    /// Rank the vertices after each phase.
    #[arg(long)]
    pub page_rank: bool,
    /// Draw the time of each round.
    #[arg(long, value_name = "FILE.svg", requires = "rounds")]
    pub plot: Option<PathBuf>,
}

impl ChangeArgs {
    /// Whether the graph is to change, or is asked for what the job that changes it finds.
    pub fn asked(&self) -> bool {
        self.rounds > 0 || self.triangles || self.page_rank
    }
}

/// Options of the graph job.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// Backend: host, cuda or vulkan [default: the best one present, or $WARPHEAP_BACKEND].
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Device: its number or a part of its name, as `warpheap doctor` shows them.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Allocators, separated by commas, or `all` [default: WarpHeap; all of them without a command].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allocator: Vec<String>,
    /// Size of the heap, such as 64M or 2GiB [default: what the graph needs].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub pool: Option<u64>,
    /// Edges inserted by one launch.
    #[arg(long, value_name = "EDGES", default_value_t = 1 << 20,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// Seed of the generated graph.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Shape of the generated graph [default: rmat].
    #[arg(long, value_enum)]
    pub kind: Option<Kind>,
    /// Generate 2^SCALE vertices [default: 14].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SCALE)))]
    pub scale: Option<u32>,
    /// Generate this many edges per vertex [default: 16].
    #[arg(long, value_name = "EDGES", value_parser = clap::value_parser!(u32).range(1..))]
    pub edge_factor: Option<u32>,
    /// PageRank iterations.
    #[arg(long, value_name = "COUNT", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub iterations: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
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
