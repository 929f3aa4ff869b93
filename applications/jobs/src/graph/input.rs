//! The graph that the options ask for.

use super::edges::EdgeList;
use super::generate::Wanted;
use super::read::{self, ReadError, ReadOptions};
use super::report::{GraphReport, Source};
use crate::error::JobError;
use std::path::{Path, PathBuf};
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
        self.loaded(read::read, Wanted::generate)
    }

    /// The same of part `part` of `parts` of the edges, which has those of all parts in their order. There may be none.
    ///
    /// # Errors
    /// As [`edges`](Self::edges), but for a file without edges, or with too few for its vertices.
    pub(super) fn part(
        &self,
        part: usize,
        parts: usize,
    ) -> Result<(EdgeList, Source, Duration), JobError> {
        self.loaded(
            |path, options| read::part(path, options, part, parts),
            |wanted| wanted.part(part, parts),
        )
    }

    fn loaded(
        &self,
        read: impl FnOnce(&Path, ReadOptions) -> Result<EdgeList, ReadError>,
        generate: impl FnOnce(Wanted) -> Result<(EdgeList, Source), JobError>,
    ) -> Result<(EdgeList, Source, Duration), JobError> {
        let started = Instant::now();
        let (list, source) = match &self.graph {
            Graph::Generated(wanted) => generate(*wanted)?,
            Graph::File { path, options } => {
                let file = path.display().to_string();
                (read(path, *options)?, Source::File { file })
            }
        };
        Ok((list, source, started.elapsed()))
    }

    /// Checks that a graph is left of so many edges, if it was made simple.
    ///
    /// # Errors
    /// [`JobError::Usage`].
    pub(super) fn some_left(&self, edges: u64) -> Result<(), JobError> {
        match self.simple && edges == 0 {
            true => Err(JobError::Usage(
                "--simple leaves no edge: all are self loops".into(),
            )),
            false => Ok(()),
        }
    }
}

/// How a graph is described to the user.
pub fn described(list: &EdgeList, source: Source, load: Duration) -> GraphReport {
    GraphReport {
        source,
        vertices: list.vertices,
        edges: list.edges.len() as u64,
        largest_in_degree: list.in_degrees().into_iter().max().unwrap_or(0),
        load,
    }
}
