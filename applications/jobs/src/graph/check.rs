//! Is what the device built the graph that was put in, and are its ranks right?

use super::growth::Demand;
use super::reference::InNeighbours;
use std::fmt::{self, Display, Formatter};
use thiserror::Error;
use warpheap::PoolStats;
use warpheap_applications::rows::reach::UNREACHED;

/// Largest relative difference allowed between a rank computed on the device in single precision and
/// the reference in double precision.
///
/// The kernel adds a vertex's shares in single precision; for the hub of a graph with millions of edges
/// the rounding errors add up to some 1e-5 of its rank. The ranks of two neighbours of the list of top
/// vertices differ by far more.
pub const RANK_TOLERANCE: f64 = 1e-3;

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
}

/// The level of a vertex, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(u32);

impl Display for Level {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            UNREACHED => f.write_str("none"),
            level => level.fmt(f),
        }
    }
}

/// Compares numbers of values.
///
/// # Errors
/// [`Mismatch::Count`] if they differ.
pub fn count(expected: usize, got: usize) -> Result<(), Mismatch> {
    if expected == got {
        Ok(())
    } else {
        Err(Mismatch::Count { expected, got })
    }
}

/// Compares what the heap counted with what the vectors ask for: `growing` when the graph is complete,
/// `freed` after all of it was given back.
///
/// # Errors
/// [`Mismatch::Heap`] for the first count that differs.
pub fn heap(demand: &Demand, growing: &PoolStats, freed: &PoolStats) -> Result<(), Mismatch> {
    for (what, expected, got) in [
        ("mallocs", demand.mallocs(), growing.mallocs),
        ("live bytes", demand.live, growing.live_bytes()),
        ("mallocs", demand.mallocs(), freed.mallocs),
        ("frees", demand.mallocs(), freed.frees),
        ("live bytes after freeing", 0, freed.live_bytes()),
    ] {
        if expected != got {
            return Err(Mismatch::Heap {
                what,
                expected,
                got,
            });
        }
    }
    Ok(())
}

/// Compares the lengths of the vertices' vectors with the in-degrees. `base` is what is added to an id
/// when it is shown.
///
/// # Errors
/// [`Mismatch`] for the first vertex that differs.
pub fn degrees(graph: &InNeighbours, lengths: &[u32], base: u32) -> Result<(), Mismatch> {
    count(graph.vertices() as usize, lengths.len())?;
    for (vertex, got) in (0..).zip(lengths) {
        let expected = graph.degree(vertex);
        if *got != expected {
            return Err(Mismatch::Degree {
                vertex: u64::from(vertex) + u64::from(base),
                expected,
                got: *got,
            });
        }
    }
    Ok(())
}

/// Compares the neighbours as multisets. `collected` has the reference's rows, each in any order; it
/// is sorted row by row.
///
/// # Errors
/// [`Mismatch`] for the first vertex that differs.
pub fn neighbours(graph: &InNeighbours, collected: &mut [u32], base: u32) -> Result<(), Mismatch> {
    count(graph.sources.len(), collected.len())?;
    for vertex in 0..graph.vertices() {
        let row = graph.range(vertex);
        let got = &mut collected[row.clone()];
        got.sort_unstable();
        let differ = graph.sources[row].iter().zip(got).find(|(a, b)| **a != **b);
        if let Some((expected, got)) = differ {
            let shown = |id: u32| u64::from(id) + u64::from(base);
            return Err(Mismatch::Neighbour {
                vertex: shown(vertex),
                expected: shown(*expected),
                got: shown(*got),
            });
        }
    }
    Ok(())
}

/// Compares the levels that a search gave the vertices.
///
/// # Errors
/// [`Mismatch`] for the first vertex that differs.
pub fn levels(reference: &[u32], levels: &[u32], base: u32) -> Result<(), Mismatch> {
    differing(reference, levels, |vertex, expected, got| Mismatch::Level {
        vertex: vertex + u64::from(base),
        expected: Level(expected),
        got: Level(got),
    })
}

/// Compares the smallest vertices of the vertices' components.
///
/// # Errors
/// [`Mismatch`] for the first vertex that differs.
pub fn components(reference: &[u32], smallest: &[u32], base: u32) -> Result<(), Mismatch> {
    let shown = |id: u64| id + u64::from(base);
    differing(reference, smallest, |vertex, expected, got| {
        Mismatch::Component {
            vertex: shown(vertex),
            expected: shown(u64::from(expected)),
            got: shown(u64::from(got)),
        }
    })
}

/// Compares a word of each vertex; `mismatch` makes an error of the first that differs.
fn differing(
    reference: &[u32],
    words: &[u32],
    mismatch: impl Fn(u64, u32, u32) -> Mismatch,
) -> Result<(), Mismatch> {
    count(reference.len(), words.len())?;
    let mut pairs = (0..).zip(reference.iter().zip(words));
    match pairs.find(|(_, (expected, got))| expected != got) {
        None => Ok(()),
        Some((vertex, (expected, got))) => Err(mismatch(vertex, *expected, *got)),
    }
}

/// Compares ranks and returns the largest relative difference.
///
/// # Errors
/// [`Mismatch`] for the vertex that is furthest off, when that is more than [`RANK_TOLERANCE`].
pub fn ranks(reference: &[f64], ranks: &[f32], base: u32) -> Result<f64, Mismatch> {
    count(reference.len(), ranks.len())?;
    let (mut worst, mut at) = (0.0, 0);
    for (vertex, (expected, got)) in reference.iter().zip(ranks).enumerate() {
        let error = (f64::from(*got) - expected).abs() / expected.abs();
        // Not `error > worst`: that would let a NaN pass.
        if error.is_nan() {
            (worst, at) = (f64::INFINITY, vertex);
        } else if error > worst {
            (worst, at) = (error, vertex);
        }
    }
    if worst > RANK_TOLERANCE {
        return Err(Mismatch::Rank {
            vertex: at as u64 + u64::from(base),
            expected: reference[at],
            got: ranks[at],
            error: worst,
        });
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::super::edges::EdgeList;
    use super::*;

    fn rows() -> InNeighbours {
        InNeighbours::new(&EdgeList {
            vertices: 3,
            edges: vec![[2, 0], [1, 0], [2, 0], [0, 2]],
            base: 0,
        })
    }

    #[test]
    fn order_does_not_matter_but_multiplicity_does() {
        let rows = rows();
        assert_eq!(neighbours(&rows, &mut [2, 1, 2, 0], 0), Ok(()));
        assert_eq!(
            neighbours(&rows, &mut [2, 1, 1, 0], 1),
            Err(Mismatch::Neighbour {
                vertex: 1,
                expected: 3,
                got: 2
            })
        );
        assert!(neighbours(&rows, &mut [2, 1, 2], 0).is_err());
    }

    #[test]
    fn lost_blocks_are_found() {
        let demand = Demand::new([3, 9].into_iter());
        let stats = |mallocs, frees, malloc_bytes, free_bytes| PoolStats {
            allocator: "Bump",
            pool_bytes: 1024,
            metadata_bytes: 64,
            usage: warpheap::Usage::default(),
            failures: [0; 3],
            mallocs,
            frees,
            malloc_bytes,
            free_bytes,
            budget: None,
        };
        // Blocks of 16, and of 16, 32 and 64 bytes.
        let (full, empty) = (stats(4, 2, 128, 48), stats(4, 4, 128, 128));
        assert_eq!(heap(&demand, &full, &empty), Ok(()));
        assert!(heap(&demand, &full, &full).is_err());
        assert!(heap(&demand, &stats(4, 1, 128, 16), &empty).is_err());
        assert!(heap(&demand, &full, &stats(5, 5, 144, 144)).is_err());
    }

    #[test]
    fn lengths_are_compared() {
        let rows = rows();
        assert_eq!(degrees(&rows, &[3, 0, 1], 0), Ok(()));
        assert_eq!(
            degrees(&rows, &[3, 1, 1], 0),
            Err(Mismatch::Degree {
                vertex: 1,
                expected: 0,
                got: 1
            })
        );
        assert!(degrees(&rows, &[3, 0], 0).is_err());
    }

    #[test]
    fn ranks_may_differ_a_little() {
        assert_eq!(ranks(&[0.5, 0.5], &[0.5, 0.5], 0), Ok(0.0));
        let small = ranks(&[0.5, 0.5], &[0.5001, 0.5], 0);
        assert!(
            matches!(small, Ok(error) if (1e-4..3e-4).contains(&error)),
            "{small:?}"
        );
        let large = ranks(&[0.5, 0.5], &[0.5, 0.51], 0);
        assert!(
            matches!(large, Err(Mismatch::Rank { vertex: 1, .. })),
            "{large:?}"
        );
    }

    #[test]
    fn levels_and_components_are_compared() {
        let reference = [1, UNREACHED, 0];
        assert_eq!(levels(&reference, &reference, 0), Ok(()));
        let wrong = levels(&reference, &[1, 7, 0], 1).map_err(|wrong| wrong.to_string());
        let why = "the search on the device is wrong: vertex 2 has level 7 instead of none";
        assert_eq!(wrong, Err(why.to_owned()));
        assert!(levels(&reference, &[1], 0).is_err());

        assert_eq!(components(&[0, 0, 0], &[0, 0, 0], 0), Ok(()));
        let wrong = Mismatch::Component {
            vertex: 3,
            expected: 1,
            got: 3,
        };
        assert_eq!(components(&[0, 0, 0], &[0, 0, 2], 1), Err(wrong));
    }

    #[test]
    fn a_nan_is_wrong() {
        let nan = ranks(&[0.5, 0.5], &[f32::NAN, 0.5], 0);
        assert!(
            matches!(nan, Err(Mismatch::Rank { vertex: 0, .. })),
            "{nan:?}"
        );
    }
}
