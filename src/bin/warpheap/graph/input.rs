//! The graph that the options ask for, and the CPU's answers to compare with.

use super::edges::EdgeList;
use super::growth::Demand;
use super::read::{self, ReadOptions};
use super::reference::{InNeighbours, PageRank};
use super::report::{GraphReport, Source};
use super::rmat::Rmat;
use crate::args::{GraphArgs, JobArgs};
use crate::error::CliError;
use std::time::Instant;

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
    /// What the vertices' vectors ask of a heap.
    pub fn demand(&self) -> Demand {
        Demand::new((0..self.list.vertices).map(|vertex| self.rows.degree(vertex)))
    }
}

/// Scale of a generated graph when none is asked for: 2^14 vertices.
const DEFAULT_SCALE: u32 = 14;
/// Edges per vertex of a generated graph when none are asked for.
const DEFAULT_EDGE_FACTOR: u32 = 16;

/// Reads the graph of `warpheap graph`.
///
/// # Errors
/// [`CliError::Usage`] for options that contradict each other, [`CliError::Input`] for a bad file.
pub fn from_graph_args(args: &GraphArgs) -> Result<Reference, CliError> {
    let Some(path) = &args.file else {
        return generated(&args.job, args.simple);
    };
    for (given, name) in [
        (args.job.scale.is_some(), "--scale"),
        (args.job.edge_factor.is_some(), "--edge-factor"),
    ] {
        if given {
            return Err(CliError::Usage(format!(
                "{name} is for generated graphs; leave it or the file {} out",
                path.display()
            )));
        }
    }
    let started = Instant::now();
    let options = ReadOptions {
        one_based: args.one_based,
        undirected: args.undirected,
    };
    let list = read::read(path, options)?;
    let file = path.display().to_string();
    finish(list, args.simple, Source::File { file }, started, &args.job)
}

/// Generates the graph of the options.
///
/// # Errors
/// [`CliError::Usage`] if it would have too many edges.
pub fn generated(job: &JobArgs, simple: bool) -> Result<Reference, CliError> {
    let rmat = Rmat {
        scale: job.scale.unwrap_or(DEFAULT_SCALE),
        edge_factor: job.edge_factor.unwrap_or(DEFAULT_EDGE_FACTOR),
        seed: job.seed,
    };
    if rmat.edges().is_none() {
        return Err(CliError::Usage(format!(
            "scale {} with edge factor {} makes {} edges; at most {} can be handled",
            rmat.scale,
            rmat.edge_factor,
            u64::from(rmat.edge_factor) << rmat.scale,
            u32::MAX
        )));
    }
    let source = Source::Rmat {
        scale: rmat.scale,
        edge_factor: rmat.edge_factor,
        seed: rmat.seed,
    };
    let started = Instant::now();
    finish(rmat.generate(), simple, source, started, job)
}

fn finish(
    mut list: EdgeList,
    simple: bool,
    source: Source,
    started: Instant,
    job: &JobArgs,
) -> Result<Reference, CliError> {
    if simple {
        list.make_simple();
        if list.edges.is_empty() {
            return Err(CliError::Usage(
                "--simple leaves no edge: all are self loops".into(),
            ));
        }
    }
    let load = started.elapsed();
    let rows = InNeighbours::new(&list);
    let out_degrees = list.out_degrees();
    let page_rank = PageRank::new(list.vertices);
    let ranks = page_rank.run(&rows, &out_degrees, job.iterations);
    let degrees = (0..list.vertices).map(|vertex| rows.degree(vertex));
    let report = GraphReport {
        source,
        vertices: list.vertices,
        edges: list.edges.len() as u64,
        largest_in_degree: degrees.max().unwrap_or(0),
        load,
    };
    Ok(Reference {
        list,
        rows,
        out_degrees,
        page_rank,
        ranks,
        iterations: job.iterations,
        report,
    })
}
