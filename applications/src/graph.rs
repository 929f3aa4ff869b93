//! A graph whose adjacency lists grow on the device, and PageRank over it.
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

/// What each vertex gives to each of its successors: its rank over the number of edges that leave
/// it. A vertex that no edge leaves gives to all: lane `i` adds the ranks of those among its
/// vertices into `dangling[i]`. Launched with `dangling.len()` lanes, whatever the number of
/// vertices.
#[kernel(unsafe(slices))]
pub fn graph_share(rank: &[f32], out_degree: &[u32], share: &mut [f32], dangling: &mut [f32]) {
    let i = thread::index() as usize;
    if i < dangling.len() {
        let mut sum = 0.0;
        let mut v = i;
        while v < share.len() {
            let degree = out_degree[v];
            if degree == 0 {
                sum += rank[v];
                share[v] = 0.0;
            } else {
                share[v] = rank[v] / degree as f32;
            }
            v += dangling.len();
        }
        dangling[i] = sum;
    }
}

/// Adds `values` up in strides: lane `i` of `sums.len()` adds every value whose index is `i` modulo
/// that. Repeated with fewer sums until one is left.
#[kernel(unsafe(slices))]
pub fn graph_fold(values: &[f32], sums: &mut [f32]) {
    let i = thread::index() as usize;
    if i < sums.len() {
        let mut sum = 0.0;
        let mut at = i;
        while at < values.len() {
            sum += values[at];
            at += sums.len();
        }
        sums[i] = sum;
    }
}

/// The new rank of each vertex: `start`, what its predecessors give times `damping`, and its part,
/// `spread`, of the rank of all vertices that no edge leaves, which is `dangling[0]`.
#[kernel(allocators = [Counted<all>, Traced<Counted<WarpHeap>>], unsafe(slices))]
pub fn graph_rank<A: DeviceAlloc>(
    heap: Heap<A>,
    vertices: &[HeapVec<u32>],
    share: &[f32],
    dangling: &[f32],
    rank: &mut [f32],
    start: f32,
    damping: f32,
    spread: f32,
) {
    let v = thread::index() as usize;
    if v < rank.len() {
        let vertex = &vertices[v];
        let mut sum = 0.0;
        for i in 0..vertex.len() {
            sum += share[vertex.get_or(heap, i, 0) as usize];
        }
        rank[v] = start + damping * sum + spread * dangling[0];
    }
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
