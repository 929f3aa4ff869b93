//! A graph whose adjacency lists grow on the device, and PageRank over it.
//!
//! Each vertex holds a vector of the vertices with an edge to it.

use warpheap_rt::device::*;

/// The edges of a batch that lead to one vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Segment {
    /// The vertex.
    pub vertex: u32,
    /// Index of its first edge in the batch.
    pub begin: u32,
    /// Index behind its last edge in the batch.
    pub end: u32,
}

/// Inserts a batch of edges: each lane takes a segment and pushes its edges to its vertex.
#[kernel(allocators = [Counted<Bump>])]
pub fn graph_insert<A: DeviceAlloc>(
    heap: Heap<A>,
    vertices: &mut [HeapVec<u32>],
    segments: &[Segment],
    edges: &[u32],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < segments.len() {
        let segment = segments[i];
        let mut vertex = vertices[segment.vertex as usize];
        let mut result = Ok(());
        for edge in segment.begin..segment.end {
            if result.is_ok() {
                result = vertex.push(heap, edges[edge as usize]);
            }
        }
        vertices[segment.vertex as usize] = vertex;
        return result;
    }
    Ok(())
}

/// What each vertex gives to each of its successors: its rank over the number of edges that leave
/// it, 0 if none does.
#[kernel]
pub fn graph_share(rank: &[f32], out_degree: &[u32], share: &mut [f32]) {
    let v = thread::index() as usize;
    if v < share.len() {
        let degree = out_degree[v];
        share[v] = if degree == 0 {
            0.0
        } else {
            rank[v] / degree as f32
        };
    }
}
