//! Generated graphs: random ones, and ones with the shapes of roads, meshes and networks with one hub.
//!
//! Every edge is a function of the seed and its number in integer arithmetic alone, so a graph is the same on every machine.

mod hub;
mod plane;
mod rmat;
mod threads;

use super::edges::EdgeList;
use super::report::{Size, Source};
use crate::error::{JobError, within};
use crate::ranks::border;
use hub::Hub;
pub use rmat::{MAX_SCALE, Rmat};
use threads::numbered;

/// The shape of a generated graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// R-MAT: degrees as uneven as those of real networks.
    #[default]
    Rmat,
    /// Roads: a grid of crossings of which some streets are missing.
    Grid,
    /// A triangulated plane, as Delaunay's: every vertex has about six neighbours.
    Mesh,
    /// Few neighbours for most, by a power law, and one vertex that neighbours all.
    Hub,
}

/// Scale of a generated graph when none is asked for: 2^14 vertices.
const DEFAULT_SCALE: u32 = 14;
/// Edges per vertex of a generated graph when none are asked for.
const DEFAULT_EDGE_FACTOR: u32 = 16;

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Its shape.
    pub kind: Kind,
    /// log2 of the number of vertices, from 1 to [`MAX_SCALE`]; 14 if none is given.
    pub scale: Option<u32>,
    /// Edges per vertex, of shapes that leave it open; 16 if none are given.
    pub edge_factor: Option<u32>,
    /// Graphs with different seeds are different.
    pub seed: u64,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted {
            kind: Kind::default(),
            scale: None,
            edge_factor: None,
            seed: Self::SEED,
        }
    }
}

impl Wanted {
    /// The seed when nobody says which.
    pub const SEED: u64 = 1;

    /// Generates the graph, and says what it is.
    ///
    /// # Errors
    /// [`JobError::Usage`] if it would have too many edges, or its shape has a number of its own.
    pub fn generate(self) -> Result<(EdgeList, Source), JobError> {
        self.part(0, 1)
    }

    /// The edges of part `part` of `parts` of the graph, which has those of all parts in their order, and what the whole graph is.
    ///
    /// # Errors
    /// [`JobError::Usage`] if a part would have too many edges, or the shape has a number of its own.
    pub fn part(self, part: usize, parts: usize) -> Result<(EdgeList, Source), JobError> {
        let scale = self.scale.unwrap_or(DEFAULT_SCALE);
        within("--scale", scale, 1..=MAX_SCALE)?;
        let open = matches!(self.kind, Kind::Rmat | Kind::Hub);
        if !open && self.edge_factor.is_some() {
            return Err(JobError::Usage(
                "--edge-factor is for the kinds rmat and hub; leave it out".into(),
            ));
        }
        let edge_factor = match self.kind {
            Kind::Rmat | Kind::Hub => self.edge_factor.unwrap_or(DEFAULT_EDGE_FACTOR),
            // At most, each street or side counted in both directions.
            Kind::Grid => 4,
            Kind::Mesh => 6,
        };
        let most = u64::from(u32::MAX) * parts as u64;
        if u64::from(edge_factor) << scale > most {
            return Err(JobError::Usage(format!(
                "scale {scale} with edge factor {edge_factor} makes {} edges; at most {most} can be handled",
                u64::from(edge_factor) << scale,
            )));
        }
        let seed = self.seed;
        let size = Size { scale, seed };
        let share = |all: u64| border(all, part, parts)..border(all, part + 1, parts);
        let vertices = share(1 << scale);
        let vertices = vertices.start as u32..vertices.end as u32;
        let (edges, source) = match self.kind {
            Kind::Rmat => {
                let rmat = Rmat {
                    scale,
                    edge_factor,
                    seed,
                };
                let numbers = share(u64::from(edge_factor) << scale);
                (
                    numbered(numbers, |number| rmat.edge(number)),
                    Source::Rmat { size, edge_factor },
                )
            }
            Kind::Grid => (plane::grid(scale, seed, vertices), Source::Grid { size }),
            Kind::Mesh => (plane::mesh(scale, seed, vertices), Source::Mesh { size }),
            Kind::Hub => {
                let hub = Hub {
                    scale,
                    edge_factor,
                    seed,
                };
                (
                    numbered(share(hub.edges()), |number| hub.edge(number)),
                    Source::Hub { size, edge_factor },
                )
            }
        };
        let list = EdgeList {
            vertices: 1 << scale,
            edges,
            base: 0,
        };
        Ok((list, source))
    }
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's finaliser: 64 well mixed bits of any 64.
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(GOLDEN);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_edges_in_their_order() {
        for kind in [Kind::Rmat, Kind::Grid, Kind::Mesh, Kind::Hub] {
            let wanted = Wanted {
                kind,
                scale: Some(7),
                ..Wanted::default()
            };
            let whole = wanted.generate().unwrap().0;
            assert!(whole.edges.iter().flatten().all(|id| *id < 128), "{kind:?}");
            for parts in [2, 3, 300] {
                let part = |part| wanted.part(part, parts).unwrap().0;
                let lists: Vec<EdgeList> = (0..parts).map(part).collect();
                assert!(lists.iter().all(|list| list.vertices == 128));
                let edges: Vec<_> = lists.into_iter().flat_map(|list| list.edges).collect();
                assert_eq!(edges, whole.edges, "{kind:?} in {parts} parts");
            }
        }
    }

    #[test]
    fn several_ranks_may_have_more_edges_together() {
        let wanted = Wanted {
            scale: Some(28),
            edge_factor: Some(16),
            ..Wanted::default()
        };
        let error = wanted.generate().unwrap_err().to_string();
        assert!(error.contains("makes 4294967296 edges"), "{error}");
        // Which none of so many has much of.
        let part = wanted.part(7, 1 << 24).unwrap().0;
        assert_eq!(part.edges.len(), 256);
    }
}
