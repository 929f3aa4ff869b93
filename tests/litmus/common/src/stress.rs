//! Lanes that hammer other lines.
//!
//! Traffic on a few lines makes some ways through the memory system slower than others. What two stores or two loads do
//! to different lines then arrives in another order more often.

use crate::crew::Crew;
use crate::numbers::mix;
use warpheap::device::*;

/// Word of every tally: testers that are done. Stress ends with the last of them.
pub const DONE: usize = 0;

/// Words of the scratch memory.
pub const SCRATCH_WORDS: u32 = 1 << 16;

/// Bit of a pattern: the first access of a step is a store, and not a load.
pub const FIRST_STORES: u32 = 1;
/// Bit of a pattern: so is the second one.
pub const SECOND_STORES: u32 = 2;
/// Bit of a pattern: lanes of a warp take different words of the line, and not the same one.
pub const SPREAD: u32 = 4;

/// A word of the line that the block hammers.
#[inline(always)]
fn place(crew: Crew, line: u32) -> usize {
    let word = if crew.pattern & SPREAD != 0 {
        thread::index_in_block() % 32
    } else {
        0
    };
    ((line % crew.lines * crew.spacing + word) % SCRATCH_WORDS) as usize
}

/// Hammers a line until the testers are done, or for as many steps as the crew says.
#[inline(always)]
pub fn make(tally: &[AtomicWord], scratch: &[AtomicWord], crew: Crew) {
    let at = place(crew, mix(thread::block_index() ^ crew.seed));
    let mut step = 0;
    while (step < crew.bound) & (at < scratch.len()) {
        if crew.pattern & FIRST_STORES != 0 {
            scratch[at].store(step);
        } else {
            scratch[at].load();
        }
        if crew.pattern & SECOND_STORES != 0 {
            scratch[at].store(step + 1);
        } else {
            scratch[at].load();
        }
        step += 1;
        // Not each time: the word is the same for all.
        if step % 16 == 0 && tally[DONE].load() >= crew.lanes() {
            step = crew.bound;
        }
    }
}

/// A tester's own accesses to a line, in one of four cases: they shift lanes against each other.
#[inline(always)]
pub fn disturb(scratch: &[AtomicWord], crew: Crew, dice: u32) {
    if dice & 3 == 0 {
        let at = place(crew, dice >> 2);
        if at < scratch.len() {
            scratch[at].store(dice);
            scratch[at].load();
        }
    }
}
