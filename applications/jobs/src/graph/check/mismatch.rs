//! What can be wrong with a graph on a device.

use super::{RANK_TOLERANCE, SUM_TOLERANCE};
use std::fmt::{self, Display, Formatter};
use thiserror::Error;
use warpheap_applications::rows::reach::UNREACHED;

/// A difference between the device's answer and the reference. Vertex numbers are as the user wrote
/// them.
#[derive(Debug, Error, PartialEq)]
pub enum Mismatch {
    /// A vertex has the wrong number of neighbours.
    #[error(
        "the graph on the device is wrong: vertex {vertex} has {got} in-neighbours instead of {expected}"
    )]
    Degree {
        /// The vertex.
        vertex: u64,
        /// In-edges in the input.
        expected: u32,
        /// Length of the vertex's vector on the device.
        got: u32,
    },
    /// A vertex has the right number of neighbours, but not these.
    #[error(
        "the graph on the device is wrong: the sorted in-neighbours of vertex {vertex} have {got} \
         where {expected} belongs"
    )]
    Neighbour {
        /// The vertex.
        vertex: u64,
        /// Neighbour in the input.
        expected: u64,
        /// Neighbour on the device.
        got: u64,
    },
    /// The device answered for another number of vertices or edges.
    #[error("the device returned {got} values instead of {expected}")]
    Count {
        /// Values that belong there.
        expected: usize,
        /// Values that came.
        got: usize,
    },
    /// The heap handed out or took back another number of blocks or bytes than the vectors need.
    #[error("the heap counted {got} {what} instead of {expected}")]
    Heap {
        /// What was counted.
        what: &'static str,
        /// What the vectors need.
        expected: u64,
        /// What was counted.
        got: u64,
    },
    /// Triangles.
    #[error("{got} triangles were found instead of {expected}")]
    Triangles {
        /// As the CPU counts.
        expected: u64,
        /// As the device does.
        got: u64,
    },
    /// A vertex has the wrong level.
    #[error(
        "the search on the device is wrong: vertex {vertex} has level {got} instead of {expected}"
    )]
    Level {
        /// The vertex.
        vertex: u64,
        /// As the CPU finds it.
        expected: Level,
        /// As the device does.
        got: Level,
    },
    /// A vertex is in another component.
    #[error(
        "the components on the device are wrong: the smallest vertex of that of vertex {vertex} is {got} instead of {expected}"
    )]
    Component {
        /// The vertex.
        vertex: u64,
        /// As the CPU finds it.
        expected: u64,
        /// As the device does.
        got: u64,
    },
    /// A rank is off by more than [`RANK_TOLERANCE`].
    #[error(
        "the ranks of the device are wrong: vertex {vertex} has {got:e} instead of {expected:e} \
         (relative difference {error:.1e}, allowed {RANK_TOLERANCE:.0e})"
    )]
    Rank {
        /// The vertex.
        vertex: u64,
        /// Rank of the reference.
        expected: f64,
        /// Rank of the device.
        got: f32,
        /// Relative difference.
        error: f64,
    },
    /// Ranks that do not add up to 1.
    #[error(
        "the ranks of the device are wrong: they add up to {got:e} instead of 1 (allowed difference {SUM_TOLERANCE:.0e})"
    )]
    Sum {
        /// Sum of the ranks of the device.
        got: f64,
    },
}

/// The level of a vertex, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(pub(super) u32);

impl Display for Level {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            UNREACHED => f.write_str("none"),
            level => level.fmt(f),
        }
    }
}
