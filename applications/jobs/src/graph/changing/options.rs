//! What is asked for.

use crate::graph;
use crate::graph::generate::Wanted;
use crate::graph::input::Input;

/// A graph, how it changes, and how that is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The graph, which is made simple.
    pub input: Input,
    /// How it changes.
    pub changes: Changes,
    /// Bytes of the pool; what the rows need if none are given.
    pub pool: Option<u64>,
}

/// How a graph changes, and what it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    /// Rounds of insertions, and as many of deletions.
    pub rounds: u32,
    /// Edges of a round, from 1 to [`MOST_UPDATES`](Self::MOST_UPDATES).
    pub updates: u32,
    /// Vertices whose rows change; all if none are given.
    pub focus: Option<u32>,
    /// Whether the triangles of the initial graph are counted, which is made undirected.
    pub triangles: bool,
    /// Whether vertices are ranked after each phase.
    pub page_rank: bool,
    /// Iterations of PageRank.
    pub iterations: u32,
    /// Where a breadth-first search begins after each phase; there is none if no start is given.
    pub bfs: Option<Start>,
    /// Whether connected components are found after each phase.
    pub components: bool,
    /// Arrays leave the regions of the heap of which less than so many percent are in use; no array moves if it is 0.
    pub compact: u32,
    /// After so many rounds each time, at least 1, and after the last one of a phase.
    pub compact_every: u32,
    /// Other seeds make other edges come.
    pub seed: u64,
}

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At the vertex with the most neighbours in the initial graph, the smallest of several: most others are likely to be reached.
    MostNeighbours,
    /// At this vertex, as the graph numbers them.
    Vertex(u32),
}

impl Changes {
    /// Edges of a round when nobody says how many.
    pub const UPDATES: u32 = 100_000;
    /// The most edges that a round may have.
    pub const MOST_UPDATES: u32 = 1 << 28;
    /// In percent, what regions of the heap are in use at most that arrays leave, when nobody says it.
    pub const COMPACT: u32 = 75;
    /// Rounds from one time to the next.
    pub const COMPACT_EVERY: u32 = 1;
}

impl Default for Changes {
    /// None.
    fn default() -> Self {
        Changes {
            rounds: 0,
            updates: Self::UPDATES,
            focus: None,
            triangles: false,
            page_rank: false,
            iterations: graph::Options::ITERATIONS,
            bfs: None,
            components: false,
            compact: Self::COMPACT,
            compact_every: Self::COMPACT_EVERY,
            seed: Wanted::SEED,
        }
    }
}
