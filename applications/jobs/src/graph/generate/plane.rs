//! Graphs that lie in a plane: vertices on a grid with neighbours around them, each edge in both directions.

use super::mix;
use super::threads::around;
use std::ops::Range;

/// One street in this many is missing.
const MISSING: u64 = 10;

/// Roads: vertices of a grid, the streets between neighbours, but for some; those of these vertices to the right and below.
pub fn grid(scale: u32, seed: u64, vertices: Range<u32>) -> Vec<[u32; 2]> {
    let plane = Plane::new(scale);
    around(vertices, |vertex, edges| {
        for (side, other) in [plane.right(vertex), plane.below(vertex)]
            .iter()
            .enumerate()
        {
            let draw = mix(seed ^ mix(u64::from(vertex) << 1 | side as u64));
            if let Some(other) = other
                && draw % MISSING != 0
            {
                edges.extend([[vertex, *other], [*other, vertex]]);
            }
        }
    })
}

/// A triangulated plane: the grid with one diagonal of each cell, at random; those of these vertices to the right and below.
pub fn mesh(scale: u32, seed: u64, vertices: Range<u32>) -> Vec<[u32; 2]> {
    let plane = Plane::new(scale);
    around(vertices, |vertex, edges| {
        let (right, below) = (plane.right(vertex), plane.below(vertex));
        for other in [right, below].into_iter().flatten() {
            edges.extend([[vertex, other], [other, vertex]]);
        }
        if let (Some(right), Some(below)) = (right, below) {
            // The vertex across the cell, or the two beside it.
            let (from, to) = match mix(seed ^ mix(u64::from(vertex))) & 1 {
                0 => (vertex, below + 1),
                _ => (right, below),
            };
            edges.extend([[from, to], [to, from]]);
        }
    })
}

/// `2^scale` vertices in rows, as square as that can be.
struct Plane {
    scale: u32,
    width: u32,
}

impl Plane {
    fn new(scale: u32) -> Self {
        let width = 1 << scale.div_ceil(2);
        Plane { scale, width }
    }

    fn vertices(&self) -> u32 {
        1 << self.scale
    }

    fn right(&self, vertex: u32) -> Option<u32> {
        ((vertex + 1) % self.width != 0).then_some(vertex + 1)
    }

    fn below(&self, vertex: u32) -> Option<u32> {
        let below = vertex + self.width;
        (below < self.vertices()).then_some(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::edges::out_degrees;

    #[test]
    fn a_mesh_is_triangles() {
        for scale in [2, 5, 8] {
            let mesh = mesh(scale, 7, 0..1 << scale);
            let (height, width) = (1 << (scale / 2), 1 << scale.div_ceil(2));
            let sides = (width - 1) * height + width * (height - 1);
            let cells = (width - 1) * (height - 1);
            assert_eq!(mesh.len(), 2 * (sides + cells), "scale {scale}");
            let largest = out_degrees(&mesh, 1 << scale).into_iter().max();
            assert!(largest <= Some(8), "{largest:?}");
        }
    }

    #[test]
    fn roads_lead_both_ways_and_some_are_missing() {
        let grid = grid(10, 1, 0..1024);
        let mut edges = grid.clone();
        edges.sort_unstable();
        assert!(
            edges
                .iter()
                .all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok())
        );
        let all = 2 * 2 * 32 * 31;
        let share = edges.len() as f64 / f64::from(all);
        assert!((0.85..0.95).contains(&share), "{share}");
        edges.dedup();
        assert_eq!(edges.len(), grid.len(), "no edge comes twice");
        assert_ne!(grid, super::grid(10, 2, 0..1024));
    }
}
