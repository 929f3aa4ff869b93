//! Is what the device built the graph that was put in, and are its ranks right?

mod mismatch;
mod names;

use super::growth::Demand;
use super::reference::InNeighbours;
use mismatch::Level;
use warpheap::PoolStats;

pub use mismatch::Mismatch;
pub use names::Names;

/// Largest relative difference allowed between a rank computed on the device in single precision and
/// the reference in double precision.
///
/// Kernels add in single precision, up to 32 numbers one after the other: a vertex with 100,000 predecessors is off by less than 2e-6. The ranks
/// of two neighbours of the list of top vertices differ by far more.
pub const RANK_TOLERANCE: f64 = 1e-3;

/// Largest difference allowed between the sum of all ranks and 1.
pub const SUM_TOLERANCE: f64 = 1e-3;

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

/// Compares the lengths of the vertices' vectors with the in-degrees.
///
/// # Errors
/// [`Mismatch`] for the first vertex that differs.
pub fn degrees(
    in_degrees: &[u32],
    lengths: &[u32],
    names: impl Into<Names>,
) -> Result<(), Mismatch> {
    let names = names.into();
    differing(in_degrees, lengths, |row, expected, got| Mismatch::Degree {
        vertex: names.of_row(row),
        expected,
        got,
    })
}

/// Compares the neighbours as multisets. `collected` has the reference's rows, each in any order; it
/// is sorted row by row.
///
/// # Errors
/// [`Mismatch`] for the first vertex that differs.
pub fn neighbours(
    graph: &InNeighbours,
    collected: &mut [u32],
    names: impl Into<Names>,
) -> Result<(), Mismatch> {
    let names = names.into();
    count(graph.sources.len(), collected.len())?;
    for vertex in 0..graph.vertices() {
        let row = graph.range(vertex);
        let got = &mut collected[row.clone()];
        got.sort_unstable();
        let differ = graph.sources[row].iter().zip(got).find(|(a, b)| **a != **b);
        if let Some((expected, got)) = differ {
            return Err(Mismatch::Neighbour {
                vertex: names.of_row(vertex.into()),
                expected: names.of(*expected),
                got: names.of(*got),
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
pub fn ranks(reference: &[f64], ranks: &[f32], names: impl Into<Names>) -> Result<f64, Mismatch> {
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
            vertex: names.into().of_row(at as u64),
            expected: reference[at],
            got: ranks[at],
            error: worst,
        });
    }
    Ok(worst)
}

/// Checks that the ranks of all vertices add up to 1: all that can be said of ranks that the CPU has not computed.
///
/// # Errors
/// [`Mismatch::Sum`] if their sum is off by more than [`SUM_TOLERANCE`].
pub fn sum(got: f64) -> Result<(), Mismatch> {
    match (got - 1.0).abs() <= SUM_TOLERANCE {
        true => Ok(()),
        false => Err(Mismatch::Sum { got }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::edges::EdgeList;
    use super::*;
    use warpheap_applications::rows::reach::UNREACHED;

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
            refused_bytes: 0,
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
        let degrees = |lengths: &[u32], names| super::degrees(&[3, 0, 1], lengths, names);
        let all = Names::from(0);
        assert_eq!(degrees(&[3, 0, 1], all), Ok(()));
        let wrong = |vertex| {
            Err(Mismatch::Degree {
                vertex,
                expected: 0,
                got: 1,
            })
        };
        assert_eq!(degrees(&[3, 1, 1], all), wrong(1));
        // The rows of a rank: vertices from 70 on, which count from 1.
        assert_eq!(degrees(&[3, 1, 1], Names { first: 70, base: 1 }), wrong(72));
        assert!(degrees(&[3, 0], all).is_err());
    }

    #[test]
    fn ranks_add_up_to_one() {
        assert_eq!((sum(1.0), sum(0.9995)), (Ok(()), Ok(())));
        for got in [0.9, 1.1, f64::NAN] {
            assert!(sum(got).is_err(), "{got}");
        }
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
