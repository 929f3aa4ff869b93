//! Triangles of a graph of rows.

use super::{Row, TEAM, TILE, element, place_in, row_of};
use crate::graph::Segment;
use warpheap_rt::device::*;

/// Counts triangles of an undirected graph (each edge in both rows): for each edge from `u` to a larger `v` the
/// vertices larger than `v` that are in both rows. Lane `i` adds what it finds to `found[i]`, low word, and
/// `found[i + thread::count()]`, high word. `segments` and `tiles` are those of all rows.
#[kernel(allocators = Counted<all>, unsafe(slices))]
pub fn rows_triangles<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &[Row],
    segments: &[Segment],
    tiles: &[u32],
    found: &mut [u32],
) {
    let all = tiles[tiles.len() - 1];
    let teams = thread::count() / TEAM;
    let lane = thread::index();
    let (mut low, mut high) = (0u32, 0u32);
    let mut tile = lane / TEAM;
    while tile < all && lane / TEAM < teams {
        let i = row_of(tiles, tile);
        let u = segments[i as usize].vertex;
        let row = rows[u as usize];
        let begin = (tile - tiles[i as usize]) * TILE;
        let mut k = lane % TEAM;
        while k < TILE && begin + k < row.len {
            let v = element(heap, row.array, begin + k);
            if v > u {
                let common = common_above(heap, row, begin + k + 1, rows[v as usize], v);
                let sum = low.wrapping_add(common);
                if sum < low {
                    high += 1;
                }
                low = sum;
            }
            k += TEAM;
        }
        tile += teams;
    }
    if (lane as usize) < found.len() {
        found[lane as usize] = low;
        found[(lane + thread::count()) as usize] = high;
    }
}

/// How many neighbours of `row` from `begin` on, all larger than `v`, are neighbours of `other`, the row of `v`.
#[inline(always)]
fn common_above<A: DeviceAlloc>(heap: Heap<A>, row: Row, begin: u32, other: Row, v: u32) -> u32 {
    let after = place_in(heap, other.array, other.len, v + 1);
    // Go through the shorter of the two, and look its elements up in the other.
    let (mine, its) = (row.len - begin, other.len - after);
    let swap = mine > its;
    let walked = if swap { other.array } else { row.array };
    let (from, to) = if swap {
        (after, other.len)
    } else {
        (begin, row.len)
    };
    let searched = if swap { row.array } else { other.array };
    let (first, last) = if swap {
        (begin, row.len)
    } else {
        (after, other.len)
    };
    let mut count = 0;
    // Both ascend, so what was passed is not looked at again.
    let mut low = first;
    let mut at = from;
    while at < to && low < last {
        let value = element(heap, walked, at);
        let mut high = last;
        while low < high {
            let middle = low + (high - low) / 2;
            if element(heap, searched, middle) < value {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < last && element(heap, searched, low) == value {
            count += 1;
            low += 1;
        }
        at += 1;
    }
    count
}
