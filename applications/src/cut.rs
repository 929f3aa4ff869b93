//! Rows cut by the rank that they belong to, where several processes join a part each.
//!
//! Lane `i` takes every row whose number is `i` modulo the number of lanes. [`SHARING`] lanes count their rows of each part together; sums
//! of the counts, part by part and in each by lanes, say where they put them. Lanes of a warp whose rows belong to one part put
//! these side by side: a row that each lane puts where its last one ended is a piece of memory by itself, and takes eight times as long.

use crate::join::Tuple;
use warpheap_rt::device::*;
use warpheap_rt::sync::{Group, Team, hash};

/// Most parts: a product of theirs and half a word stays one.
pub const MOST_PARTS: u32 = 1 << 16;

/// Which of so many parts the rows of a key belong to.
#[inline(always)]
pub const fn part_of(key: u32, parts: u32) -> u32 {
    // Twice: the upper bits of the first hash say which partition of the join a row is in, and each part has rows of all of them.
    ((hash(hash(key) ^ 0x5bd1_e995) >> 16) * parts) >> 16
}

/// Lanes that count together.
pub const SHARING: u32 = 32;

/// Where the count is of the rows of a part that a lane takes, of so many lanes.
#[inline(always)]
fn place_of(part: u32, lane: u32, lanes: u32) -> usize {
    (part * lanes.div_ceil(SHARING) + lane / SHARING) as usize
}

/// Counts the rows of each part that `lanes` lanes take: those of part `p` and lane `i` in number `p * n + i / SHARING`, where `n` is
/// `lanes / SHARING`, rounded up.
#[kernel]
pub fn cut_count(rows: &[Tuple], counts: &[AtomicWord], parts: u32, lanes: u32) {
    let lane = thread::index();
    if lane < lanes {
        let mut at = lane as usize;
        while at < rows.len() {
            let part = part_of(rows[at].key, parts);
            let team = Team::by_key(Group::here(), part);
            if team.leads() {
                counts[place_of(part, lane, lanes)].fetch_add(team.count());
            }
            at += lanes as usize;
        }
    }
}

/// Puts the rows in order by part. `places` has sums of what [`cut_count`] counted: where the first row of each part that some lanes take
/// belongs; afterwards the place behind the last one.
#[kernel(unsafe(slices))]
pub fn cut_scatter(
    rows: &[Tuple],
    places: &[AtomicWord],
    out: &mut [Tuple],
    parts: u32,
    lanes: u32,
) {
    let lane = thread::index();
    if lane < lanes {
        let mut at = lane as usize;
        while at < rows.len() {
            let row = rows[at];
            let part = part_of(row.key, parts);
            let team = Team::by_key(Group::here(), part);
            let mut first = 0;
            if team.leads() {
                first = places[place_of(part, lane, lanes)].fetch_add(team.count());
            }
            out[(team.broadcast(first) + team.rank()) as usize] = row;
            at += lanes as usize;
        }
    }
}
