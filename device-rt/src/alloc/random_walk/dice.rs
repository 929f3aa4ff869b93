//! Random numbers that differ between lanes, and between requests of a lane.

use super::geometry::draws_word;
use crate::arch::Words;
use crate::sync::{Group, hash};
use crate::thread;
use warpheap_api::HeapMemory;

/// What the numbers of one lane go on by: odd, so all words come before one comes again.
const STEP: u32 = 0x9e37_79b9;

/// A stream of random numbers.
#[derive(Clone, Copy)]
pub(super) struct Dice {
    state: u32,
}

impl Dice {
    /// Collective: a stream for each lane. One word of the heap, of which many warps have copies of their own,
    /// goes on by one.
    #[inline(always)]
    pub(super) fn of_lanes(words: Words, group: Group) -> Self {
        Self::with(Self::draw(words, group), thread::index())
    }

    /// Collective: one stream for all lanes.
    #[inline(always)]
    pub(super) fn of_group(words: Words, group: Group) -> Self {
        let index = group.broadcast(thread::index());
        Self::with(Self::draw(words, group), index)
    }

    #[inline(always)]
    fn draw(words: Words, group: Group) -> u32 {
        let mut drawn = 0;
        if group.leads() {
            drawn = words.fetch_add(draws_word(), 1);
        }
        group.barrier();
        group.broadcast(drawn)
    }

    #[inline(always)]
    fn with(drawn: u32, index: u32) -> Self {
        Dice {
            state: hash(index ^ drawn.wrapping_mul(STEP)),
        }
    }

    /// The next number, below `most`.
    #[inline(always)]
    pub(super) fn below(&mut self, most: u32) -> u32 {
        self.state = self.state.wrapping_add(STEP);
        hash(self.state) % most
    }
}
