//! PageRank over the vectors of a [`graph`](crate::graph), short or long.
//!
//! An iteration turns what vertices *give* to each of their successors into what they give next. A row, the vector of a
//! vertex's predecessors, of up to [`TILE`] is added up by one lane. A longer one is added up by many, of which none adds
//! more than `TILE` values: they leave *parts* of the sum, which others add up to fewer parts, until one lane can add
//! what is left. Who adds what follows from the length of the row alone, so the sum is the same bit by bit, whatever runs
//! beside it and however many lanes a warp has.
//!
//! 1. [`rank_dangling`], [`rank_fold`], [`rank_base`]: what each vertex has without any predecessor;
//! 2. [`rank_short`]: short rows;
//! 3. [`rank_gather`], [`rank_add`] for each level, [`rank_long`]: long rows.
//!
//! Lanes that share values take them in strides, so that those beside each other read what lies beside each other.

use warpheap_rt::device::*;

/// Values that one lane adds up, at most.
pub const TILE: u32 = 32;

/// Parts of a sum, which lie one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Parts {
    /// What they add up: the row of this vertex, or the parts with this index in the list of all [`Parts`].
    pub of: u32,
    /// Index of the first.
    pub begin: u32,
    /// Index behind the last.
    pub end: u32,
}

/// Adds up in `sums`, in strides, the ranks of all vertices that no edge leaves. `given` has what each vertex gives, and minus its rank
/// for these.
#[kernel(unsafe(slices))]
pub fn rank_dangling(given: &[f32], sums: &mut [f32]) {
    let i = thread::index() as usize;
    if i < sums.len() {
        let mut sum = 0.0;
        let mut at = i;
        while at < given.len() {
            let value = given[at];
            if value < 0.0 {
                sum -= value;
            }
            at += sums.len();
        }
        sums[i] = sum;
    }
}

/// Adds `values` up in strides: lane `i` of `sums.len()` adds every value whose index is `i` modulo
/// that. Repeated with fewer sums until they are few.
#[kernel(unsafe(slices))]
pub fn rank_fold(values: &[f32], sums: &mut [f32]) {
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

/// One lane writes to `base[0]` what each vertex has without any predecessor: `start`, and its part, `spread`, of the rank of all
/// vertices that no edge leaves, which is the sum of `sums`.
#[kernel(unsafe(slices))]
pub fn rank_base(sums: &[f32], base: &mut [f32], start: f32, spread: f32) {
    if thread::index() == 0 {
        let mut sum = 0.0;
        let mut at = 0;
        while at < sums.len() {
            sum += sums[at];
            at += 1;
        }
        base[0] = start + spread * sum;
    }
}

/// What a vertex gives to each of its successors: its rank over their number. If it has none, minus its rank, which is nobody's
/// predecessor's. Without degrees, in the last iteration, the rank itself.
#[inline(always)]
fn gives(out_degree: &[u32], v: usize, rank: f32) -> f32 {
    if v < out_degree.len() {
        let degree = out_degree[v];
        if degree == 0 {
            -rank
        } else {
            rank / degree as f32
        }
    } else {
        rank
    }
}

/// What every `step`-th predecessor of a vertex gives, from the one with index `first` on, together.
#[inline(always)]
fn received<A: DeviceAlloc>(
    heap: Heap<A>,
    vertex: &HeapVec<u32>,
    given: &[f32],
    first: u32,
    step: u32,
) -> f32 {
    let mut sum = 0.0;
    let mut at = first;
    while at < vertex.len() {
        sum += given[vertex.get_or(heap, at, 0) as usize];
        at += step;
    }
    sum
}

/// Lane `v` writes to `next[v]` what vertex `v` gives after this iteration if its row is short: its rank is then `base[0]`
/// and `damping` times what its predecessors give. `given` is of all vertices; the others may be of some of them. `out_degree`
/// may be empty: then it is the ranks that are written.
#[kernel(allocators = [Counted<all>, Traced<Counted<WarpHeap>>], unsafe(slices))]
pub fn rank_short<A: DeviceAlloc>(
    heap: Heap<A>,
    vertices: &[HeapVec<u32>],
    given: &[f32],
    base: &[f32],
    out_degree: &[u32],
    next: &mut [f32],
    damping: f32,
) {
    let v = thread::index() as usize;
    if v < next.len() {
        let vertex = &vertices[v];
        if vertex.len() <= TILE {
            let rank = base[0] + damping * received(heap, vertex, given, 0, 1);
            next[v] = gives(out_degree, v, rank);
        }
    }
}

/// Lane `p` of `count` adds up part `p` of a long row. `owners[p]` is the index in `list` of the parts that it is one of.
#[kernel(allocators = [Counted<all>, Traced<Counted<WarpHeap>>], unsafe(slices))]
pub fn rank_gather<A: DeviceAlloc>(
    heap: Heap<A>,
    vertices: &[HeapVec<u32>],
    list: &[Parts],
    owners: &[u32],
    given: &[f32],
    parts: &mut [f32],
    count: u32,
) {
    let p = thread::index();
    if p < count {
        let its = list[owners[p as usize] as usize];
        let vertex = &vertices[its.of as usize];
        parts[p as usize] = received(heap, vertex, given, p - its.begin, its.end - its.begin);
    }
}

/// Lanes add up the parts `begin..end` of the next level, a lane each, from those of the one before.
#[kernel(unsafe(slices))]
pub fn rank_add(list: &[Parts], owners: &[u32], parts: &mut [f32], begin: u32, end: u32) {
    let p = begin + thread::index();
    if p < end {
        let its = list[owners[p as usize] as usize];
        let from = list[its.of as usize];
        let mut sum = 0.0;
        let mut at = from.begin + (p - its.begin);
        while at < from.end {
            sum += parts[at as usize];
            at += its.end - its.begin;
        }
        parts[p as usize] = sum;
    }
}

/// As [`rank_short`], of long rows: lane `i` of the vertex with the parts `rows[i]`, which are those of its last level.
#[kernel(unsafe(slices))]
pub fn rank_long(
    rows: &[Parts],
    parts: &[f32],
    base: &[f32],
    out_degree: &[u32],
    next: &mut [f32],
    damping: f32,
) {
    let i = thread::index() as usize;
    if i < rows.len() {
        let row = rows[i];
        let mut sum = 0.0;
        let mut at = row.begin;
        while at < row.end {
            sum += parts[at as usize];
            at += 1;
        }
        let v = row.of as usize;
        next[v] = gives(out_degree, v, base[0] + damping * sum);
    }
}
