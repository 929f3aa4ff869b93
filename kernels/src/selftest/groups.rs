//! Groups that meet in a function which is called from two places of a loop.
//!
//! Lanes of a warp come to the function in several groups, each with a leader that goes a long way of its own, and the
//! groups are in it at the same time. A compiler that takes the lanes that are here for the same in all of them mixes
//! them up, and a device whose lanes do not meet again behind the leader's way loses some.

use warpheap_rt::arch::AtomicWord;
use warpheap_rt::device::*;
use warpheap_rt::sync::{Group, Team, hash};

/// Words of [`selftest_groups`] that are always zero.
pub const ZEROS: usize = 64;
/// The word behind them: the members of all teams.
pub const MEMBERS: usize = ZEROS;

/// In what a lane stores: a vote of all lanes of its group was not all of them.
pub const VOTE: u32 = 1;
/// What its leader said was not for its team.
pub const BROADCAST: u32 = 2;
/// Its team was another one afterwards.
pub const MATCH: u32 = 4;
/// The sum over its team was wrong.
pub const SUM: u32 = 8;

/// What a lane draws in a round.
pub const fn draw(i: u32, round: u32) -> u32 {
    hash(i ^ hash(round + 1))
}

/// Whether a lane that drew this comes by the first place.
pub const fn comes_first(drawn: u32) -> bool {
    (drawn >> 16) % 3 != 0
}

/// Whether a lane that drew this comes by the second place.
pub const fn comes_second(drawn: u32) -> bool {
    (drawn >> 20) % 3 == 0
}

/// Takes as many looks as `value` says; zero.
#[inline(never)]
fn wander(words: &[AtomicWord], value: u32) -> u32 {
    let mut left = value % 13;
    let mut sum = 0;
    while left > 0 {
        left -= 1;
        let at = (value.wrapping_add(left) as usize) % ZEROS;
        if at < words.len() {
            sum += words[at].load();
        }
    }
    sum
}

/// What went wrong where lanes with this `value` met. Teams go by its lowest bit.
#[inline(never)]
fn meet(words: &[AtomicWord], value: u32) -> u32 {
    let group = Group::here();
    let team = Team::by_key(group, value & 1);
    let mut said = 0;
    if team.leads() {
        said = value.wrapping_add(wander(words, value));
        if value & 64 != 0 {
            said = said.wrapping_add(wander(words, value >> 3));
        }
        if MEMBERS < words.len() {
            words[MEMBERS].fetch_add(team.count());
        }
    }
    group.barrier();
    let vote = group.ballot(true) != group.lanes();
    let broadcast = (team.broadcast(said) ^ value) & 1 != 0;
    let matched = group.match_any(value & 1) != team.members();
    let sum = team.sum(2).total != 2 * team.count();
    vote as u32 * VOTE + broadcast as u32 * BROADCAST + matched as u32 * MATCH + sum as u32 * SUM
}

/// Lanes come to a function by two places of a loop, in some rounds by one, in some by both, and store what went wrong
/// there. `words` begin as zeros, [`ZEROS`] and one more.
#[kernel(unsafe(slices))]
pub fn selftest_groups(rounds: u32, words: &[AtomicWord], wrong: &mut [u32]) {
    let i = thread::index();
    if (i as usize) < wrong.len() {
        let mut faults = 0;
        let mut round = 0;
        while round < rounds {
            let drawn = draw(i, round);
            if comes_first(drawn) {
                faults |= meet(words, drawn >> 7);
            }
            if comes_second(drawn) {
                faults |= meet(words, drawn >> 9);
            }
            round += 1;
        }
        wrong[i as usize] = faults;
    }
}
