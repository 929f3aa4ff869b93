//! What is built on a device: a graph, or the rows of some of its vertices, with everything that a run is measured against.

use super::check::Names;
use super::edges::{EdgeList, in_degrees};
use super::growth::Demand;
use super::input::Input;
use super::reference::{InNeighbours, PageRank};
use super::report::GraphReport;
use crate::error::JobError;
use std::ops::Range;

/// The rows of some vertices of a graph: of all, or of those that belong to a rank.
pub struct Built {
    /// The vertices.
    pub vertices: Range<u32>,
    /// The edges that enter them, in the order in which they are inserted. Sources are any vertices of the graph, and targets count
    /// from the first of these.
    pub edges: Vec<[u32; 2]>,
    /// How many edges enter each of them.
    pub in_degrees: Vec<u32>,
    /// How many edges leave each vertex of the graph.
    pub out_degrees: Vec<u32>,
    /// The recurrence, over the whole graph.
    pub page_rank: PageRank,
    /// PageRank iterations.
    pub iterations: u32,
    /// The CPU's answers, if they are asked for.
    pub expected: Option<Expected>,
    /// What is added to the number of a vertex when it is shown.
    pub base: u32,
}

/// What the CPU says of these vertices.
pub struct Expected {
    /// Their in-neighbours.
    pub rows: InNeighbours,
    /// Their ranks in double precision.
    pub ranks: Vec<f64>,
}

impl Built {
    /// The rows of these vertices, with no answers of the CPU.
    pub fn new(
        vertices: Range<u32>,
        edges: Vec<[u32; 2]>,
        out_degrees: Vec<u32>,
        iterations: u32,
        base: u32,
    ) -> Self {
        Built {
            in_degrees: in_degrees(&edges, vertices.end - vertices.start),
            vertices,
            edges,
            page_rank: PageRank::new(out_degrees.len() as u32),
            out_degrees,
            iterations,
            expected: None,
            base,
        }
    }

    /// Reads or generates a graph, and ranks its vertices if it is to be `checked`.
    ///
    /// # Errors
    /// As [`Input::edges`]; a graph that is to be simple and has no edge then.
    pub fn whole(
        input: &Input,
        iterations: u32,
        checked: bool,
    ) -> Result<(Self, GraphReport), JobError> {
        let (mut list, source, load) = input.edges()?;
        if input.simple {
            list.make_simple();
            input.some_left(list.edges.len() as u64)?;
        }
        let out_degrees = list.out_degrees();
        let EdgeList {
            vertices,
            edges,
            base,
        } = list;
        let mut built = Self::new(0..vertices, edges, out_degrees, iterations, base);
        if checked {
            let rows = built.neighbours();
            let ranks = built.page_rank.run(&rows, &built.out_degrees, iterations);
            built.expected = Some(Expected { rows, ranks });
        }
        let report = GraphReport {
            source,
            vertices,
            edges: built.edges.len() as u64,
            largest_in_degree: built.largest_in_degree(),
            load,
        };
        Ok((built, report))
    }

    /// In-neighbours of the vertices, as the CPU finds them.
    pub fn neighbours(&self) -> InNeighbours {
        InNeighbours::of(self.rows(), &self.edges)
    }

    /// How many vertices there are.
    pub fn rows(&self) -> u32 {
        self.vertices.end - self.vertices.start
    }

    /// How many edges enter the vertex with the most of them.
    pub fn largest_in_degree(&self) -> u32 {
        self.in_degrees.iter().max().copied().unwrap_or(0)
    }

    /// What the vertices' vectors ask of a heap.
    pub fn demand(&self) -> Demand {
        Demand::new(self.in_degrees.iter().copied())
    }

    /// How the rows are called.
    pub fn names(&self) -> Names {
        Names {
            first: self.vertices.start,
            base: self.base,
        }
    }
}
