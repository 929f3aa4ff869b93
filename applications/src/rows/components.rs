//! Connected components of a graph of rows, whichever way its edges lead: each vertex gets the smallest vertex of its
//! component. Every vertex has a *parent*, itself or a smaller one, so parents make trees, whose roots are their smallest
//! vertices. Trees are joined by hooking the larger root under a smaller vertex; jumping to the parent's parent makes
//! them flat.

use super::{Row, TEAM, TILE, element, row_of};
use crate::graph::Segment;
use warpheap_rt::device::*;

/// Lane `v` makes the smallest neighbour of vertex `v` its parent, or itself if none is smaller. Most trees are joined
/// then, without an atomic operation.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_parents<A: DeviceAlloc>(heap: Heap<A>, rows: &[Row], parents: &mut [u32]) {
    let v = thread::index();
    if (v as usize) < rows.len() {
        let row = rows[v as usize];
        let mut parent = v;
        if row.len > 0 {
            let neighbour = element(heap, row.array, 0);
            if neighbour < v {
                parent = neighbour;
            }
        }
        parents[v as usize] = parent;
    }
}

/// Lane `v` makes the root of its tree the parent of vertex `v`. Other lanes do the same meanwhile, which shortens the way.
#[kernel]
pub fn parents_jump(parents: &[AtomicWord]) {
    let v = thread::index() as usize;
    if v < parents.len() {
        let mut parent = parents[v].load();
        let mut above = parents[parent as usize].load();
        // Parents are smaller, so this ends.
        while above != parent {
            parents[v].store(above);
            parent = above;
            above = parents[parent as usize].load();
        }
    }
}

/// Teams of lanes join the tree of each vertex with those of its neighbours. `segments` and `tiles` are those of all rows.
/// Any number of lanes.
#[kernel(allocators = Counted<all>)]
pub fn rows_hook<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Row],
    segments: &[Segment],
    tiles: &[u32],
    parents: &[AtomicWord],
) {
    let all = tiles[tiles.len() - 1];
    let teams = thread::count() / TEAM;
    let mut tile = thread::index() / TEAM;
    while tile < all && thread::index() / TEAM < teams {
        let i = row_of(tiles, tile);
        let u = segments[i as usize].vertex;
        let row = rows[u as usize];
        let begin = (tile - tiles[i as usize]) * TILE;
        let mut k = thread::index() % TEAM;
        let mut mine = parents[u as usize].load();
        while k < TILE && begin + k < row.len {
            let v = element(heap, row.array, begin + k);
            mine = joined(parents, mine, parents[v as usize].load());
            k += TEAM;
        }
        tile += teams;
    }
}

/// Joins the trees of two vertices, and gives a vertex of the tree that they are in now.
#[inline(always)]
fn joined(parents: &[AtomicWord], a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    // The larger of the two becomes smaller each time, so this ends.
    while a != b {
        let low = if a < b { a } else { b };
        let high = if a < b { b } else { a };
        a = low;
        b = parents[high as usize].load();
        if b == high {
            // A root: it goes under the other vertex, unless another lane hooked it first.
            b = parents[high as usize].compare_exchange(high, low);
            if b == high {
                b = low;
            }
        } else {
            // Halve the way for whoever comes next. A vertex with a parent never becomes a root again.
            let over = parents[b as usize].load();
            if over != b {
                parents[high as usize].store(over);
            }
        }
    }
    a
}
