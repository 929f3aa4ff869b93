//! Rows cut by the rank that they belong to, where several processes join a part each.
//!
//! Lane `i` takes every row whose number is `i` modulo the number of lanes. It counts its rows of each part; sums of the counts, part by
//! part and in each by lanes, say where it puts them. So nothing is written by two lanes, and what comes out is the same each time.

use crate::join::Tuple;
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Most parts: a product of theirs and half a word stays one.
pub const MOST_PARTS: u32 = 1 << 16;

/// Which of so many parts the rows of a key belong to.
#[inline(always)]
pub const fn part_of(key: u32, parts: u32) -> u32 {
    // Twice: the upper bits of the first hash say which partition of the join a row is in, and each part has rows of all of them.
    ((hash(hash(key) ^ 0x5bd1_e995) >> 16) * parts) >> 16
}

/// Counts the rows of each part: those of part `p` that lane `i` of `lanes` takes in `counts[p * lanes + i]`.
#[kernel(unsafe(slices))]
pub fn cut_count(rows: &[Tuple], counts: &mut [u32], parts: u32, lanes: u32) {
    let lane = thread::index();
    if lane < lanes {
        let mut at = lane as usize;
        while at < rows.len() {
            let place = part_of(rows[at].key, parts) * lanes + lane;
            counts[place as usize] += 1;
            at += lanes as usize;
        }
    }
}

/// Puts the rows in order by part. `places` has sums of what [`cut_count`] counted: where the first row of each part that a lane takes
/// belongs; afterwards the place behind the last one.
#[kernel(unsafe(slices))]
pub fn cut_scatter(rows: &[Tuple], places: &mut [u32], out: &mut [Tuple], parts: u32, lanes: u32) {
    let lane = thread::index();
    if lane < lanes {
        let mut at = lane as usize;
        while at < rows.len() {
            let row = rows[at];
            let place = (part_of(row.key, parts) * lanes + lane) as usize;
            let to = places[place];
            places[place] = to + 1;
            out[to as usize] = row;
            at += lanes as usize;
        }
    }
}
