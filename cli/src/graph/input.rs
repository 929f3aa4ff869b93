//! The graph that the options ask for, and the CPU's answers to compare with.

use super::edges::EdgeList;
use super::generate::Wanted;
use super::growth::Demand;
use super::read::{self, ReadOptions};
use super::reference::{InNeighbours, PageRank};
use super::report::{GraphReport, Source};
use crate::error::CliError;
use crate::graph::args::{GraphArgs, JobArgs};
use std::time::{Duration, Instant};

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

/// Reads or generates the graph of `warpheap graph`.
///
/// # Errors
/// As [`edges`]; `--simple` that leaves no edge.
pub fn from_graph_args(args: &GraphArgs) -> Result<Reference, CliError> {
    let (list, source, load) = edges(args)?;
    finish(list, args.simple, source, load, &args.job)
}

/// The edges of the graph of `warpheap graph`, where they are from, and how long it took to get them.
///
/// # Errors
/// [`CliError::Usage`] for options that contradict each other, [`CliError::Input`] for a bad file.
pub fn edges(args: &GraphArgs) -> Result<(EdgeList, Source, Duration), CliError> {
    let started = Instant::now();
    let Some(path) = &args.file else {
        let (list, source) = wanted(&args.job).generate()?;
        return Ok((list, source, started.elapsed()));
    };
    for (given, name) in [
        (args.job.kind.is_some(), "--kind"),
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
    let options = ReadOptions {
        one_based: args.one_based,
        undirected: args.undirected,
    };
    let list = read::read(path, options)?;
    let file = path.display().to_string();
    Ok((list, Source::File { file }, started.elapsed()))
}

fn wanted(job: &JobArgs) -> Wanted {
    Wanted {
        kind: job.kind.unwrap_or_default(),
        scale: job.scale,
        edge_factor: job.edge_factor,
        seed: job.seed,
    }
}

/// Generates the graph of the options.
///
/// # Errors
/// [`CliError::Usage`] if it would have too many edges.
pub fn generated(job: &JobArgs, simple: bool) -> Result<Reference, CliError> {
    let started = Instant::now();
    let (list, source) = wanted(job).generate()?;
    finish(list, simple, source, started.elapsed(), job)
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

fn finish(
    mut list: EdgeList,
    simple: bool,
    source: Source,
    load: Duration,
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
    let rows = InNeighbours::new(&list);
    let out_degrees = list.out_degrees();
    let page_rank = PageRank::new(list.vertices);
    let ranks = page_rank.run(&rows, &out_degrees, job.iterations);
    let report = described(&list, source, load);
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
