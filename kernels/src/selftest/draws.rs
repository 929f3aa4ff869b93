//! Values that lanes take along when they leave a loop, in different rounds.
//!
//! Code behind the loop may use what a round made, and each lane has that of its own last round. A compiler that keeps one value for
//! all lanes of a warp gives them what the last round of all left.

use warpheap_rt::arch::AtomicWord;
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Numbers that a lane draws at most.
const MOST_DRAWS: u32 = 4096;

/// Whether a lane that drew this number keeps it.
pub const fn fits(number: u32) -> bool {
    hash(number) & 3 == 0
}

/// Lanes draw numbers from the first element of `next`, which begins as zero, until one fits, and store that.
#[kernel(unsafe(slices))]
pub fn selftest_draws(next: &[AtomicWord], drawn: &mut [u32]) {
    let i = thread::index() as usize;
    if i < drawn.len() && !next.is_empty() {
        let next = &next[0];
        let mut draws = 0;
        drawn[i] = loop {
            let number = next.fetch_add(1);
            draws += 1;
            if fits(number) || draws == MOST_DRAWS {
                break number;
            }
        };
    }
}
