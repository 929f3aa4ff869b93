//! The CPU's breadth-first search.

use crate::graph::reference::InNeighbours;
use warpheap_applications::rows::reach::UNREACHED;

/// What a search along the rows of a graph finds.
#[derive(Debug, PartialEq, Eq)]
pub struct Search {
    /// Where it begins.
    pub source: u32,
    /// Steps from there to each vertex; [`UNREACHED`] for one that no path leads to.
    pub levels: Vec<u32>,
    /// Vertices that it reaches, the source among them.
    pub reached: u32,
    /// The largest level.
    pub depth: u32,
    /// Neighbours of all of them together.
    pub edges: u64,
}

impl Search {
    /// Searches from `source`, a vertex of the graph.
    pub fn new(rows: &InNeighbours, source: u32) -> Self {
        let mut levels = vec![UNREACHED; rows.vertices() as usize];
        levels[source as usize] = 0;
        let mut order = vec![source];
        let (mut at, mut depth, mut edges) = (0, 0, 0);
        while let Some(vertex) = order.get(at) {
            let row = &rows.sources[rows.range(*vertex)];
            depth = levels[*vertex as usize];
            edges += row.len() as u64;
            for neighbour in row {
                let level = &mut levels[*neighbour as usize];
                if *level == UNREACHED {
                    *level = depth + 1;
                    order.push(*neighbour);
                }
            }
            at += 1;
        }
        Search {
            source,
            levels,
            reached: order.len() as u32,
            depth,
            edges,
        }
    }
}

/// The vertex with the most neighbours, the smallest of several; the first if there are none.
pub fn most_neighbours(rows: &InNeighbours) -> u32 {
    // Of equal ones the last is the maximum.
    let vertices = (0..rows.vertices()).rev();
    vertices
        .max_by_key(|vertex| rows.degree(*vertex))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::edges::EdgeList;

    /// Each vertex has those with an edge to it as neighbours.
    #[test]
    fn levels_are_steps_along_rows() {
        let rows = InNeighbours::new(&EdgeList {
            vertices: 6,
            edges: vec![[1, 0], [2, 0], [3, 2], [3, 1], [0, 3], [3, 4], [4, 4]],
            base: 0,
        });
        let search = Search::new(&rows, 0);
        assert_eq!(search.levels, [0, 1, 1, 2, UNREACHED, UNREACHED]);
        assert_eq!((search.reached, search.depth, search.edges), (4, 2, 5));
        assert_eq!(Search::new(&rows, 5).reached, 1);
        assert_eq!(most_neighbours(&rows), 0);
    }
}
