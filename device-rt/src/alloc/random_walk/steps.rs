//! Counting steps (§III-B): what lanes took in all, and what the slowest lane of each warp took.
//!
//! A stripe has four words: requests, their steps, warps, and the sum over warps of the most steps that a
//! lane took. Warps are spread over stripes; the sums wrap.

use super::geometry::{STEPS_WORD, STRIPE_WORDS, STRIPES, warp_number};
use crate::arch::Words;
use crate::sync::Group;
use warpheap_api::{HeapMemory, LaneMask, least};

/// In a stripe: requests.
pub(crate) const REQUESTS: usize = 0;
/// In a stripe: steps of all requests.
pub(crate) const STEPS: usize = 1;
/// In a stripe: calls of warps.
pub(crate) const WARPS: usize = 2;
/// In a stripe: the most steps of a lane, over all calls.
pub(crate) const MOST: usize = 3;

/// Collective: counts what the lanes took; 0 for those that did not ask.
#[inline(always)]
pub(super) fn count(words: Words, group: Group, steps: u32) {
    let mut left = group.lanes();
    let (mut asked, mut sum, mut most) = (0, 0u32, 0);
    while !left.is_empty() {
        let other = group.shuffle(steps, left.first());
        asked += (other != 0) as u32;
        sum = sum.wrapping_add(other);
        most = most + other - least(most, other);
        left = left.without(LaneMask::only(left.first()));
    }
    if group.leads() & (asked != 0) {
        let stripe = STEPS_WORD + warp_number() as usize % STRIPES * STRIPE_WORDS;
        words.fetch_add(stripe + REQUESTS, asked);
        words.fetch_add(stripe + STEPS, sum);
        words.fetch_add(stripe + WARPS, 1);
        words.fetch_add(stripe + MOST, most);
    }
}
