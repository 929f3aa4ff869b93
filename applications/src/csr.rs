//! The rebuild that graphs of rows are measured against: a batch of edges merged into compressed sparse rows by writing all
//! of them anew. No heap.

use crate::search::lower_bound;
use warpheap_rt::device::*;

/// Edges that one lane copies.
pub const COPIED: u32 = 8;

/// Lane `j` finds edge `j` of the batch among the edges of its vertex: `places[j]` is its index in `old` or where it
/// would be; `counts[j]` is 1 if it changes something, as in `rows_find`.
#[kernel(unsafe(slices))]
pub fn csr_find(
    offsets: &[u32],
    old: &[u32],
    owners: &[u32],
    edges: &[u32],
    places: &mut [u32],
    counts: &mut [u32],
    adding: u32,
) {
    let j = thread::index() as usize;
    if j < edges.len() {
        let (owner, edge) = (owners[j] as usize, edges[j]);
        let end = offsets[owner + 1];
        let place = lower_bound(old, offsets[owner], end, edge);
        let mut present = 0;
        if place < end && old[place as usize] == edge {
            present = 1;
        }
        places[j] = place;
        counts[j] = present ^ adding;
    }
    if j == edges.len() {
        counts[j] = 0;
    }
}

/// Lane `v` moves the offset of vertex `v` by the edges that come (`adding == 1`) or go before it; `starts[v]` is where
/// its edges begin in the batch.
#[kernel(unsafe(slices))]
pub fn csr_offsets(offsets: &[u32], starts: &[u32], sums: &[u32], moved: &mut [u32], adding: u32) {
    let v = thread::index() as usize;
    if v < moved.len() {
        let shift = sums[starts[v] as usize];
        moved[v] = if adding == 1 {
            offsets[v] + shift
        } else {
            offsets[v] - shift
        };
    }
}

/// Lane `i` writes the edges `COPIED * i` and following to where they belong now, those that stay.
#[kernel(unsafe(slices))]
pub fn csr_copy(
    offsets: &[u32],
    starts: &[u32],
    edges: &[u32],
    sums: &[u32],
    old: &[u32],
    new: &mut [u32],
    adding: u32,
) {
    let vertices = offsets.len() as u32 - 1;
    let mut at = thread::index() * COPIED;
    let all = offsets[vertices as usize];
    let end = if at + COPIED < all { at + COPIED } else { all };
    if at < end {
        // The last vertex whose edges do not begin behind this one.
        let mut v = lower_bound(offsets, 0, vertices + 1, at + 1) - 1;
        while at < end {
            while at >= offsets[v as usize + 1] {
                v += 1;
            }
            let value = old[at as usize];
            let last = starts[v as usize + 1];
            let place = lower_bound(edges, starts[v as usize], last, value);
            let shift = sums[place as usize];
            if adding == 1 {
                new[(at + shift) as usize] = value;
            } else if place == last || edges[place as usize] != value {
                new[(at - shift) as usize] = value;
            }
            at += 1;
        }
    }
}

/// Lane `j` writes edge `j` of a batch that is inserted to its place, if it was not there.
#[kernel(unsafe(slices))]
pub fn csr_put(edges: &[u32], places: &[u32], sums: &[u32], new: &mut [u32]) {
    let j = thread::index() as usize;
    if j < edges.len() {
        let before = sums[j];
        if sums[j + 1] != before {
            new[(places[j] + before) as usize] = edges[j];
        }
    }
}
