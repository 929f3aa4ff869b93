//! A graph whose adjacency lists grow on the device; [`rank`](crate::rank) is PageRank over it.
//!
//! Each vertex holds a vector of the vertices with an edge to it. One lane works on one vertex, so
//! no two lanes ever touch the same vector.

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
#[kernel(allocators = [Counted<all>, Traced<Counted<WarpHeap>>], unsafe(slices))]
pub fn graph_insert<A: DeviceAlloc>(
    heap: Heap<A>,
    vertices: &mut [HeapVec<u32>],
    segments: &[Segment],
    edges: &[u32],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < segments.len() {
        let segment = segments[i];
        // SAFETY: no other lane has this vertex, and it is put back below. In the buffer each push would go through memory.
        let mut vertex = unsafe { core::ptr::read(&vertices[segment.vertex as usize]) };
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

/// Copies the vectors out of the heap: that of vertex `v` to `out[offsets[v]..offsets[v + 1]]`, no
/// further than fits there.
#[kernel(allocators = [Counted<all>, Traced<Counted<WarpHeap>>], unsafe(slices))]
pub fn graph_collect<A: DeviceAlloc>(
    heap: Heap<A>,
    vertices: &[HeapVec<u32>],
    offsets: &[u32],
    out: &mut [u32],
) {
    let v = thread::index() as usize;
    if v < vertices.len() {
        let vertex = &vertices[v];
        let begin = offsets[v];
        let room = offsets[v + 1] - begin;
        let len = if vertex.len() < room {
            vertex.len()
        } else {
            room
        };
        for i in 0..len {
            out[(begin + i) as usize] = vertex.get_or(heap, i, 0);
        }
    }
}

/// Frees the vectors of all vertices and leaves them empty.
#[kernel(allocators = [Counted<all>, Traced<Counted<WarpHeap>>])]
pub fn graph_free<A: DeviceAlloc>(heap: Heap<A>, vertex: &mut HeapVec<u32>) {
    vertex.free(heap);
}
