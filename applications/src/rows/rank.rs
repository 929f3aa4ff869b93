//! PageRank over rows of predecessors, long or short: a lane adds up a tile of a row, and one for each row its tiles.
//! What does not depend on rows is done by the kernels of [`graph`](crate::graph).

use super::{Row, TILE, element, row_of};
use crate::graph::Segment;
use warpheap_rt::device::*;

/// Writes to `parts[t]` what the predecessors in tile `t` give together. `segments` and `tiles` are those of all rows.
/// Any number of lanes.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_gather<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Row],
    segments: &[Segment],
    tiles: &[u32],
    share: &[f32],
    parts: &mut [f32],
) {
    let all = tiles[tiles.len() - 1];
    let mut tile = thread::index();
    while tile < all {
        let i = row_of(tiles, tile);
        let row = rows[segments[i as usize].vertex as usize];
        let begin = (tile - tiles[i as usize]) * TILE;
        let mut sum = 0.0;
        let mut k = 0;
        while k < TILE && begin + k < row.len {
            sum += share[element(heap, row.array, begin + k) as usize];
            k += 1;
        }
        parts[tile as usize] = sum;
        tile += thread::count();
    }
}

/// The new rank of each vertex, as [`graph_rank`](crate::graph::graph_rank) gives it, from the `parts` of its row.
#[kernel(unsafe(slices))]
pub fn rows_rank(
    tiles: &[u32],
    parts: &[f32],
    dangling: &[f32],
    rank: &mut [f32],
    start: f32,
    damping: f32,
    spread: f32,
) {
    let v = thread::index() as usize;
    if v < rank.len() {
        let mut sum = 0.0;
        for tile in tiles[v]..tiles[v + 1] {
            sum += parts[tile as usize];
        }
        rank[v] = start + damping * sum + spread * dangling[0];
    }
}
