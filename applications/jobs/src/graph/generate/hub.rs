//! A network with one huge vertex: all others are its neighbours, and have few besides.

use super::mix;

/// Vertex 0 and every other are neighbours, in both directions; `edge_factor - 2` edges more for each vertex lead to
/// vertices by a power law: the density of ends falls with the square root of their number.
#[derive(Debug, Clone, Copy)]
pub struct Hub {
    /// The graph has `2^scale` vertices.
    pub scale: u32,
    /// Edges per vertex.
    pub edge_factor: u32,
    /// Graphs with different seeds are different.
    pub seed: u64,
}

impl Hub {
    /// Number of edges.
    pub fn edges(&self) -> u64 {
        self.spokes() + (u64::from(self.besides()) << self.scale)
    }

    /// The edge of that number.
    pub fn edge(&self, number: u64) -> [u32; 2] {
        let Some(number) = number.checked_sub(self.spokes()) else {
            let vertex = (number / 2) as u32 + 1;
            return match number % 2 {
                0 => [vertex, 0],
                _ => [0, vertex],
            };
        };
        let besides = u64::from(self.besides());
        let (vertex, number) = (number / besides, number % besides + 2);
        let draw = mix(self.seed ^ mix(vertex << 32 | number));
        // The square of a number between 0 and 1, in fixed point.
        let part = draw >> 32;
        let end = (((part * part) >> 32) << self.scale) >> 32;
        [vertex as u32, end as u32]
    }

    /// Edges from and to vertex 0.
    fn spokes(&self) -> u64 {
        2 * ((1 << self.scale) - 1)
    }

    /// Edges of each vertex besides.
    fn besides(&self) -> u32 {
        self.edge_factor.saturating_sub(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(seed: u64) -> Vec<[u32; 2]> {
        let hub = Hub {
            scale: 10,
            edge_factor: 4,
            seed,
        };
        (0..hub.edges()).map(|number| hub.edge(number)).collect()
    }

    #[test]
    fn one_vertex_neighbours_all() {
        let edges = generate(1);
        assert_eq!(edges.len(), 2 * 1023 + 2 * 1024);
        let mut degrees = vec![0u32; 1024];
        for [_, target] in &edges {
            degrees[*target as usize] += 1;
        }
        assert!(degrees[0] >= 1023, "{}", degrees[0]);
        // Half of the other ends lie in the first quarter.
        let quarter: u32 = degrees[1..256].iter().sum();
        assert!((900..1500).contains(&quarter), "{quarter}");
        assert_ne!(edges, generate(2));
    }

    #[test]
    fn few_edges_are_those_of_the_hub_alone() {
        for edge_factor in [1, 2] {
            let hub = Hub {
                scale: 1,
                edge_factor,
                seed: 1,
            };
            let edges: Vec<_> = (0..hub.edges()).map(|number| hub.edge(number)).collect();
            assert_eq!(edges, [[1, 0], [0, 1]]);
        }
    }
}
