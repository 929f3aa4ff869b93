//! The CPU's connected components, by union and find.

use crate::graph::reference::InNeighbours;

/// The connected components of a graph, whichever way its edges lead.
#[derive(Debug, PartialEq, Eq)]
pub struct Connected {
    /// The smallest vertex of each vertex's component.
    pub smallest: Vec<u32>,
    /// Components; a vertex without edges is one.
    pub count: u32,
    /// Vertices of the largest.
    pub largest: u32,
}

impl Connected {
    /// The components of a graph.
    pub fn new(rows: &InNeighbours) -> Self {
        let vertices = rows.vertices();
        let mut parents: Vec<u32> = (0..vertices).collect();
        for vertex in 0..vertices {
            for neighbour in &rows.sources[rows.range(vertex)] {
                let (a, b) = (root(&mut parents, vertex), root(&mut parents, *neighbour));
                parents[a.max(b) as usize] = a.min(b);
            }
        }
        let smallest: Vec<u32> = (0..vertices).map(|v| root(&mut parents, v)).collect();
        let mut sizes = vec![0u32; smallest.len()];
        for root in &smallest {
            sizes[*root as usize] += 1;
        }
        Connected {
            smallest,
            count: sizes.iter().filter(|size| **size > 0).count() as u32,
            largest: sizes.into_iter().max().unwrap_or(0),
        }
    }
}

/// The root of a vertex's tree, to which the way becomes half as long.
fn root(parents: &mut [u32], vertex: u32) -> u32 {
    let mut at = vertex;
    while parents[at as usize] != at {
        let parent = parents[at as usize];
        parents[at as usize] = parents[parent as usize];
        at = parents[at as usize];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::edges::EdgeList;

    #[test]
    fn directions_do_not_matter() {
        let rows = InNeighbours::new(&EdgeList {
            vertices: 7,
            edges: vec![[5, 3], [5, 1], [6, 3], [2, 4], [4, 2], [0, 0]],
            base: 0,
        });
        let connected = Connected::new(&rows);
        assert_eq!(connected.smallest, [0, 1, 2, 1, 2, 1, 1]);
        assert_eq!((connected.count, connected.largest), (3, 4));
    }
}
