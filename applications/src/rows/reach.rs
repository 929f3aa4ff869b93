//! Breadth-first search over rows, level by level. A level's vertices are its *frontier*: a part of `order`, which has
//! every vertex that is reached, once. Teams of lanes take the tiles of the frontier's rows, so that no lane goes through
//! a long row alone; a prefix sum over the frontier's tiles says which row a tile belongs to, as in [`rows`](super).

use super::{Row, TEAM, TILE, element, row_of};
use warpheap_rt::device::*;
use warpheap_rt::sync::{Group, group_sum};

/// Level of a vertex that is not reached.
pub const UNREACHED: u32 = u32::MAX;

/// Makes `source` the first frontier: `order[0]`, with its number of tiles in `tiles[0]`. `levels` has a word for each
/// vertex, and behind them two more: how many vertices are reached, and how many tiles the rows of all of them but the source
/// have together.
#[kernel(unsafe(slices))]
pub fn reach_begin(
    rows: &[Row],
    order: &mut [u32],
    tiles: &mut [u32],
    levels: &mut [u32],
    source: u32,
) {
    let v = thread::index();
    let vertices = rows.len() as u32;
    if v < vertices {
        levels[v as usize] = if v == source { 0 } else { UNREACHED };
    }
    if v == vertices {
        order[0] = source;
        tiles[0] = rows[source as usize].len.div_ceil(TILE);
        levels[v as usize] = 1;
        levels[v as usize + 1] = 0;
    }
}

/// Teams of lanes give the neighbours of a frontier that nobody reached before the next level. The frontier is `order`
/// from `begin` on, with as many vertices as `tiles`, the prefix sum, has elements but for the last. The vertices of the
/// next one go behind it in `order`, in any order, and their numbers of tiles to `next`. Any number of lanes.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_reach<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Row],
    order: &mut [u32],
    tiles: &[u32],
    next: &mut [u32],
    levels: &[AtomicWord],
    begin: u32,
) {
    let frontier = tiles.len() as u32 - 1;
    let all = tiles[frontier as usize];
    let end = begin + frontier;
    let teams = thread::count() / TEAM;
    // Of the rows of vertices that this lane reaches.
    let mut found = 0;
    let mut tile = thread::index() / TEAM;
    while tile < all && thread::index() / TEAM < teams {
        let i = row_of(tiles, tile);
        let u = order[(begin + i) as usize] as usize;
        let row = rows[u];
        let level = levels[u].load() + 1;
        let first = (tile - tiles[i as usize]) * TILE + thread::index() % TEAM;
        // Bit `k` stands for neighbour `first + k * TEAM`.
        let mut new = 0u32;
        let mut k = 0;
        while k < TILE / TEAM && first + k * TEAM < row.len {
            let v = element(heap, row.array, first + k * TEAM) as usize;
            if levels[v].load() == UNREACHED
                && levels[v].compare_exchange(UNREACHED, level) == UNREACHED
            {
                new |= 1 << k;
            }
            k += 1;
        }
        // One addition for the lanes that are here.
        let group = Group::here();
        let sum = group_sum(group, new.count_ones());
        let mut base = 0;
        if group.leads() && sum.total > 0 {
            base = levels[rows.len()].fetch_add(sum.total);
        }
        let mut at = group.broadcast(base) + sum.before;
        while new != 0 {
            let v = element(heap, row.array, first + new.trailing_zeros() * TEAM);
            let its = rows[v as usize].len.div_ceil(TILE);
            order[at as usize] = v;
            next[(at - end) as usize] = its;
            found += its;
            at += 1;
            new &= new - 1;
        }
        tile += teams;
    }
    let group = Group::here();
    let sum = group_sum(group, found);
    if group.leads() && sum.total > 0 {
        levels[rows.len() + 1].fetch_add(sum.total);
    }
}
