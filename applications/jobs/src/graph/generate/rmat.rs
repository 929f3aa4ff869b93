//! R-MAT graphs: random graphs whose degrees are as uneven as those of real networks.
//!
//! Chakrabarti, Zhan, Faloutsos, *R-MAT: A Recursive Model for Graph Mining* (2004), with Graph500's
//! probabilities: each bit pair of (source, target) falls into one of four quadrants. Every edge is a
//! function of (seed, edge number) in integer arithmetic alone, so a graph is the same on every
//! machine and with any number of threads.

use super::threads::numbered;
use super::{GOLDEN, mix};
use crate::graph::edges::EdgeList;

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rmat {
    /// The graph has `2^scale` vertices; 1 to [`MAX_SCALE`].
    pub scale: u32,
    /// Edges per vertex.
    pub edge_factor: u32,
    /// Graphs with different seeds are different.
    pub seed: u64,
}

/// Largest scale: 2^28 vertices are 3 GiB of empty vectors.
pub const MAX_SCALE: u32 = 28;

/// Probability that a step goes to the upper left quadrant, in hundredths.
const A: u64 = 57;
/// Upper right.
const B: u64 = 19;
/// Lower left. What is left, 5 %, is the lower right.
const C: u64 = 19;

const fn threshold(hundredths: u64) -> u32 {
    ((hundredths << 32) / 100) as u32
}

impl Rmat {
    /// Number of edges, or `None` when they cannot be counted in 32 bits.
    pub fn edges(&self) -> Option<u32> {
        u32::try_from(u64::from(self.edge_factor) << self.scale).ok()
    }

    /// Generates the graph with all threads of the machine.
    ///
    /// `scale` must be at most [`MAX_SCALE`] and `edges()` must be known; otherwise the graph is empty.
    pub fn generate(&self) -> EdgeList {
        let numbers = 0..u64::from(self.edges().unwrap_or(0));
        EdgeList {
            vertices: 1 << self.scale,
            edges: numbered(numbers, |number| self.edge(number)),
            base: 0,
        }
    }

    /// The edge of that number.
    pub(super) fn edge(&self, number: u64) -> [u32; 2] {
        let mut state = mix(self.seed ^ mix(number));
        let (mut source, mut target) = (0u32, 0u32);
        let mut bits = 0u64;
        for level in 0..self.scale {
            if level % 2 == 0 {
                state = state.wrapping_add(GOLDEN);
                bits = mix(state);
            } else {
                bits >>= 32;
            }
            let draw = bits as u32;
            let lower = draw >= threshold(A + B);
            let right = (draw >= threshold(A) && !lower) || draw >= threshold(A + B + C);
            source = source << 1 | u32::from(lower);
            target = target << 1 | u32::from(right);
        }
        [self.scramble(source), self.scramble(target)]
    }

    /// A bijection on the ids, so that the hubs are not all neighbours at the front.
    fn scramble(&self, id: u32) -> u32 {
        let mask = u32::MAX >> (32 - self.scale);
        let half = self.scale.div_ceil(2);
        let key = mix(self.seed ^ 0x5EED) as u32;
        let mut id = id;
        for odd in [0x9E37_79B1u32, 0x85EB_CA6B] {
            // Each step can be undone modulo 2^scale: odd factor, sum, xor with a shift.
            id = id.wrapping_mul(odd).wrapping_add(key) & mask;
            id ^= id >> half;
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rmat(scale: u32, edge_factor: u32, seed: u64) -> Rmat {
        Rmat {
            scale,
            edge_factor,
            seed,
        }
    }

    #[test]
    fn sizes_are_as_asked() {
        let graph = rmat(10, 16, 1).generate();
        assert_eq!(graph.vertices, 1024);
        assert_eq!(graph.edges.len(), 16 * 1024);
        assert!(graph.edges.iter().flatten().all(|id| *id < 1024));
        assert_eq!(rmat(1, 1, 1).generate().edges.len(), 2);
        assert_eq!(rmat(28, 16, 1).edges(), None);
        assert_eq!(rmat(27, 31, 1).edges(), Some(31 << 27));
    }

    #[test]
    fn the_seed_decides() {
        let one = rmat(8, 8, 1).generate();
        assert_eq!(one, rmat(8, 8, 1).generate());
        assert_ne!(one, rmat(8, 8, 2).generate());
    }

    #[test]
    fn stays_the_same_on_every_machine() {
        let graph = rmat(12, 4, 42).generate();
        let hash = graph
            .edges
            .iter()
            .flatten()
            .fold(0u64, |hash, id| mix(hash ^ u64::from(*id)));
        assert_eq!(hash, 0xA23F_B72D_0275_8165, "got {hash:#x}");
    }

    #[test]
    fn threads_do_not_matter() {
        let rmat = rmat(9, 5, 7);
        let graph = rmat.generate();
        for (number, edge) in graph.edges.iter().enumerate() {
            assert_eq!(*edge, rmat.edge(number as u64));
        }
    }

    #[test]
    fn scrambling_loses_no_vertex() {
        for scale in [1, 2, 3, 7, 10, 13] {
            let rmat = rmat(scale, 1, 99);
            let mut seen: Vec<u32> = (0..1 << scale).map(|id| rmat.scramble(id)).collect();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..1 << scale), "scale {scale}");
        }
    }

    #[test]
    fn quadrants_have_their_shares() {
        // The unscrambled top bits of one level: source bit 1 has probability 24 %, target bit too.
        let rmat = rmat(1, 1, 3);
        let mut counts = [[0u32; 2]; 2];
        for number in 0..100_000 {
            let [source, target] = rmat.edge(number);
            counts[source as usize][target as usize] += 1;
        }
        // Scrambling two ids either swaps both or none.
        let diagonal = [counts[0][0], counts[1][1]];
        let (high, low) = (diagonal[0].max(diagonal[1]), diagonal[0].min(diagonal[1]));
        assert!((56_000..58_000).contains(&high), "{counts:?}");
        assert!((4_500..5_500).contains(&low), "{counts:?}");
        assert!((18_000..20_000).contains(&counts[0][1]), "{counts:?}");
        assert!((18_000..20_000).contains(&counts[1][0]), "{counts:?}");
    }

    #[test]
    fn degrees_are_uneven() {
        let degrees = rmat(12, 16, 5).generate().out_degrees();
        let largest = degrees.iter().max().copied().unwrap_or(0);
        assert!(largest > 16 * 20, "largest degree {largest}");
    }
}
