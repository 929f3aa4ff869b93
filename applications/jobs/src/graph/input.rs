//! The graph that the options ask for, and the CPU's answers to compare with.

use super::edges::EdgeList;
use super::generate::Wanted;
use super::growth::Demand;
use super::read::{self, ReadOptions};
use super::reference::{InNeighbours, PageRank};
use super::report::{GraphReport, Source};
use crate::error::JobError;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The graph that is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// Where it is from.
    pub graph: Graph,
    /// Whether self loops and duplicate edges are dropped.
    pub simple: bool,
}

/// Where a graph is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Graph {
    /// It is read from a file.
    File {
        /// The file; `-` is standard input.
        path: PathBuf,
        /// What it does not say about itself.
        options: ReadOptions,
    },
    /// It is generated.
    Generated(Wanted),
}

impl Default for Graph {
    fn default() -> Self {
        Graph::Generated(Wanted::default())
    }
}

impl Input {
    /// The edges as they are read or generated, where they are from, and how long it took to get them.
    ///
    /// # Errors
    /// [`JobError::Usage`] for a graph that cannot be generated, [`JobError::Input`] for a bad file.
    pub fn edges(&self) -> Result<(EdgeList, Source, Duration), JobError> {
        let started = Instant::now();
        let (list, source) = match &self.graph {
            Graph::Generated(wanted) => wanted.generate()?,
            Graph::File { path, options } => {
                let file = path.display().to_string();
                (read::read(path, *options)?, Source::File { file })
            }
        };
        Ok((list, source, started.elapsed()))
    }
}

/// A graph with everything that a run is measured against.
pub struct Reference {
    /// The edges in the order in which they are inserted.
    pub list: EdgeList,
    /// In-neighbours of every vertex.
    pub rows: InNeighbours,
    /// Out-degree of every vertex.
    pub out_degrees: Vec<u32>,
    /// The recurrence.
    pub page_rank: PageRank,
    /// Ranks in double precision after `iterations`.
    pub ranks: Vec<f64>,
    /// PageRank iterations.
    pub iterations: u32,
    /// How the graph is described to the user.
    pub report: GraphReport,
}

impl Reference {
    /// Reads or generates the graph, and ranks its vertices.
    ///
    /// # Errors
    /// As [`Input::edges`]; a graph that is to be simple and has no edge then.
    pub fn new(input: &Input, iterations: u32) -> Result<Self, JobError> {
        let (mut list, source, load) = input.edges()?;
        if input.simple {
            list.make_simple();
            if list.edges.is_empty() {
                return Err(JobError::Usage(
                    "--simple leaves no edge: all are self loops".into(),
                ));
            }
        }
        let rows = InNeighbours::new(&list);
        let out_degrees = list.out_degrees();
        let page_rank = PageRank::new(list.vertices);
        let ranks = page_rank.run(&rows, &out_degrees, iterations);
        let report = described(&list, source, load);
        Ok(Reference {
            list,
            rows,
            out_degrees,
            page_rank,
            ranks,
            iterations,
            report,
        })
    }

    /// What the vertices' vectors ask of a heap.
    pub fn demand(&self) -> Demand {
        Demand::new((0..self.list.vertices).map(|vertex| self.rows.degree(vertex)))
    }
}

/// How a graph is described to the user.
pub fn described(list: &EdgeList, source: Source, load: Duration) -> GraphReport {
    let mut degrees = vec![0u32; list.vertices as usize];
    for [_, target] in &list.edges {
        degrees[*target as usize] += 1;
    }
    GraphReport {
        source,
        vertices: list.vertices,
        edges: list.edges.len() as u64,
        largest_in_degree: degrees.into_iter().max().unwrap_or(0),
        load,
    }
}
