//! The options of the graph job.

use crate::error::CliError;
use crate::size;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use warpheap_jobs::graph::Options;
use warpheap_jobs::graph::changing::{self, Changes, Start};
use warpheap_jobs::graph::generate::{self, MAX_SCALE, Wanted};
use warpheap_jobs::graph::input::{Graph, Input};
use warpheap_jobs::graph::read::ReadOptions;

/// The shape of a generated graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// R-MAT: degrees as uneven as those of real networks.
    Rmat,
    /// Roads: a grid of crossings of which some streets are missing.
    Grid,
    /// A triangulated plane, as Delaunay's: every vertex has about six neighbours.
    Mesh,
    /// Few neighbours for most, by a power law, and one vertex that neighbours all.
    Hub,
}

impl From<Kind> for generate::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Rmat => generate::Kind::Rmat,
            Kind::Grid => generate::Kind::Grid,
            Kind::Mesh => generate::Kind::Mesh,
            Kind::Hub => generate::Kind::Hub,
        }
    }
}

/// What is said of what a graph that changes does not have.
pub const FOR_BUILT: &str = "is for a graph that is built: leave out --rounds, --triangles, --page-rank, --bfs and --components";

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
    #[arg(long, value_name = "EDGES", default_value_t = Changes::UPDATES, requires = "rounds",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(Changes::MOST_UPDATES)))]
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
    /// Search the graph breadth-first after each phase, along the rows: from a vertex to those with an edge to it. Begin at this
    /// vertex, as the graph numbers them, or at the one with the most of these.
    #[arg(long, value_name = "VERTEX", num_args = 0..=1, require_equals = true)]
    pub bfs: Option<Option<u32>>,
    /// Find the connected components after each phase, whichever way edges lead.
    #[arg(long)]
    pub components: bool,
    /// Let arrays leave the parts of the heap of which less than so many percent are in use, so that these serve any size. No array moves
    /// if it is 0, or if the allocator moves nothing.
    #[arg(long, value_name = "PERCENT", default_value_t = Changes::COMPACT, requires = "rounds",
          value_parser = clap::value_parser!(u32).range(0..=90))]
    pub compact: u32,
    /// Do that after so many rounds each time, and at the end of insertions and deletions.
    #[arg(long, value_name = "ROUNDS", default_value_t = Changes::COMPACT_EVERY, requires = "rounds",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub compact_every: u32,
    /// Draw the time of each round.
    #[arg(long, value_name = "FILE.svg", requires = "rounds")]
    pub plot: Option<PathBuf>,
}

impl ChangeArgs {
    /// Whether the graph is to change, or is asked for what the job that changes it finds.
    pub fn asked(&self) -> bool {
        self.rounds > 0 || self.triangles || self.page_rank || self.bfs.is_some() || self.components
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
    /// Let the heap grow to this size while the graph is built, by doubling it when it is full.
    #[arg(long, value_name = "SIZE", requires = "pool", value_parser = size::parse)]
    pub grow: Option<u64>,
    /// Leave out the CPU's graph and ranks, which take longer than the device's: numbers of neighbours are compared, what the heap
    /// counts, and the sum of all ranks.
    #[arg(long)]
    pub no_check: bool,
    /// Edges inserted by one launch, and sent at a time where several processes build together.
    #[arg(long, value_name = "EDGES", default_value_t = Options::BATCH,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// Seed of the generated graph.
    #[arg(long, default_value_t = Wanted::SEED)]
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
    #[arg(long, value_name = "COUNT", default_value_t = Options::ITERATIONS,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub iterations: u32,
    /// Show what each part of the heap is used for, after each batch or round: FILE.html has all snapshots, FILE.svg some as a
    /// picture, FILE.txt as text, FILE.json for programs; `-` shows the text here.
    #[arg(long, value_name = "FILE")]
    pub heap_map: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl JobArgs {
    /// The generated graph that they ask for.
    pub fn input(&self) -> Input {
        Input {
            graph: Graph::Generated(Wanted {
                kind: self.kind.map(Into::into).unwrap_or_default(),
                scale: self.scale,
                edge_factor: self.edge_factor,
                seed: self.seed,
            }),
            simple: false,
        }
    }

    /// What is done with a graph.
    pub fn options(&self, input: Input) -> Options {
        Options {
            input,
            iterations: self.iterations,
            batch: self.batch,
            pool: self.pool,
            grow: self.grow,
            checked: !self.no_check,
        }
    }
}

impl GraphArgs {
    /// The graph that they ask for.
    ///
    /// # Errors
    /// [`CliError::Usage`] for a file beside options of generated graphs.
    pub fn input(&self) -> Result<Input, CliError> {
        let Some(path) = &self.file else {
            return Ok(Input {
                simple: self.simple,
                ..self.job.input()
            });
        };
        for (given, name) in [
            (self.job.kind.is_some(), "--kind"),
            (self.job.scale.is_some(), "--scale"),
            (self.job.edge_factor.is_some(), "--edge-factor"),
        ] {
            if given {
                return Err(CliError::Usage(format!(
                    "{name} is for generated graphs; leave it or the file {} out",
                    path.display()
                )));
            }
        }
        let options = ReadOptions {
            one_based: self.one_based,
            undirected: self.undirected,
        };
        Ok(Input {
            graph: Graph::File {
                path: path.clone(),
                options,
            },
            simple: self.simple,
        })
    }

    /// The graph that they ask for, and how it changes.
    ///
    /// # Errors
    /// As [`input`](Self::input); [`CliError::Usage`] for a heap that is to grow, and for checks to be left out.
    pub fn changing(&self) -> Result<changing::Options, CliError> {
        for (given, name) in [
            (self.job.grow.is_some(), "--grow"),
            (self.job.no_check, "--no-check"),
        ] {
            if given {
                return Err(CliError::Usage(format!("{name} {FOR_BUILT}")));
            }
        }
        Ok(changing::Options {
            input: self.input()?,
            changes: Changes {
                rounds: self.changes.rounds,
                updates: self.changes.updates,
                focus: self.changes.focus,
                compact: self.changes.compact,
                compact_every: self.changes.compact_every,
                triangles: self.changes.triangles,
                page_rank: self.changes.page_rank,
                iterations: self.job.iterations,
                bfs: self
                    .changes
                    .bfs
                    .map(|vertex| vertex.map_or(Start::MostNeighbours, Start::Vertex)),
                components: self.changes.components,
                seed: self.job.seed,
            },
            pool: self.job.pool,
        })
    }
}
