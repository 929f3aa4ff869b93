//! Generated graphs: random ones, and ones with the shapes of roads, meshes and networks with one hub.
//!
//! Every edge is a function of the seed and its number in integer arithmetic alone, so a graph is the same on every machine.

mod hub;
mod plane;
mod rmat;

use super::edges::EdgeList;
use super::report::{Size, Source};
use crate::error::{JobError, within};
pub use rmat::{MAX_SCALE, Rmat};

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
        if u32::try_from(u64::from(edge_factor) << scale).is_err() {
            return Err(JobError::Usage(format!(
                "scale {scale} with edge factor {edge_factor} makes {} edges; at most {} can be handled",
                u64::from(edge_factor) << scale,
                u32::MAX
            )));
        }
        let seed = self.seed;
        let size = Size { scale, seed };
        Ok(match self.kind {
            Kind::Rmat => {
                let rmat = Rmat {
                    scale,
                    edge_factor,
                    seed,
                };
                (rmat.generate(), Source::Rmat { size, edge_factor })
            }
            Kind::Grid => (plane::grid(scale, seed), Source::Grid { size }),
            Kind::Mesh => (plane::mesh(scale, seed), Source::Mesh { size }),
            Kind::Hub => (
                hub::generate(scale, edge_factor, seed),
                Source::Hub { size, edge_factor },
            ),
        })
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
