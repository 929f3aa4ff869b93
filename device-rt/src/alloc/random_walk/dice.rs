//! Random numbers that differ between lanes, and between requests of a lane.

use super::geometry::draws_word;
use crate::arch::{self, Words};
use crate::sync::hash;
use crate::thread;
use warpheap_api::{HeapMemory, LaneMask};

/// What the numbers of one lane go on by: odd, so all words come before one comes again.
const STEP: u32 = 0x9e37_79b9;

/// A stream of random numbers.
#[derive(Clone, Copy)]
pub(super) struct Dice {
    state: u32,
}

impl Dice {
    /// Streams for the calling lanes, exactly `lanes`: one word of the heap, of which many warps have
    /// copies of their own, goes on by one.
    #[inline(always)]
    pub(super) fn of_lanes(words: Words, lanes: LaneMask) -> Self {
        Self::with(Self::draw(words, lanes), thread::index())
    }

    /// One stream for all `lanes`.
    #[inline(always)]
    pub(super) fn of_warp(words: Words, lanes: LaneMask) -> Self {
        let index = arch::shuffle(lanes, thread::index(), lanes.first());
        Self::with(Self::draw(words, lanes), index)
    }

    #[inline(always)]
    fn draw(words: Words, lanes: LaneMask) -> u32 {
        let leader = lanes.first();
        let mut drawn = 0;
        if arch::lane() == leader {
            drawn = words.fetch_add(draws_word(), 1);
        }
        arch::warp_barrier(lanes);
        arch::shuffle(lanes, drawn, leader)
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
