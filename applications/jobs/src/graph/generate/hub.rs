//! A network with one huge vertex: all others are its neighbours, and have few besides.

use super::mix;
use crate::graph::edges::EdgeList;

/// Vertex 0 and every other are neighbours, in both directions; `edge_factor - 2` edges more for each vertex lead to
/// vertices by a power law: the density of ends falls with the square root of their number.
pub fn generate(scale: u32, edge_factor: u32, seed: u64) -> EdgeList {
    let vertices = 1u32 << scale;
    let mut edges: Vec<[u32; 2]> = (1..vertices).flat_map(|v| [[v, 0], [0, v]]).collect();
    for vertex in 0..vertices {
        for number in 2..edge_factor {
            let draw = mix(seed ^ mix(u64::from(vertex) << 32 | u64::from(number)));
            // The square of a number between 0 and 1, in fixed point.
            let part = draw >> 32;
            let end = ((((part * part) >> 32) * u64::from(vertices)) >> 32) as u32;
            edges.push([vertex, end]);
        }
    }
    EdgeList {
        vertices,
        edges,
        base: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_vertex_neighbours_all() {
        let graph = generate(10, 4, 1);
        assert_eq!(graph.edges.len(), 2 * 1023 + 2 * 1024);
        let mut degrees = vec![0u32; 1024];
        for [_, target] in &graph.edges {
            degrees[*target as usize] += 1;
        }
        assert!(degrees[0] >= 1023, "{}", degrees[0]);
        // Half of the other ends lie in the first quarter.
        let quarter: u32 = degrees[1..256].iter().sum();
        assert!((900..1500).contains(&quarter), "{quarter}");
        assert_ne!(graph, generate(10, 4, 2));
    }
}
