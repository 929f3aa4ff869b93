//! Whether memory was on its way while somebody looked for it in vain.
//!
//! A segment or block that somebody took from one place and has not yet put into another is nowhere to be seen.
//! Whoever moves one says so before in one count and afterwards in another. A search during which nothing was on
//! its way and no move began has seen all there is, so it may say that there is nothing; any other one
//! may not. Moves begin when a look has found something, so lanes that all search a full heap in vain do not
//! keep each other from saying so.

use super::Gallatin;
use super::geometry::{BEGUN_WORD, ENDED_WORD};
use warpheap_api::{HeapMemory, select};

/// What a lane moves, and what it knows of others.
#[derive(Clone, Copy)]
pub(super) struct Moves {
    /// It said that it moves something.
    moving: bool,
    /// Moves that had begun when it began to watch.
    since: u32,
    /// Nothing was on its way then.
    still: bool,
}

impl Moves {
    pub const NONE: Moves = Moves {
        moving: false,
        since: 0,
        still: false,
    };

    /// Something was seen that somebody is about to change.
    #[inline(always)]
    pub fn disturb(&mut self, disturbed: bool) {
        self.still &= !disturbed;
    }
}

impl Gallatin {
    /// Says that the lane is about to move memory.
    #[inline(always)]
    pub(super) fn begin(self, moves: &mut Moves) {
        if !moves.moving {
            self.words.fetch_add(BEGUN_WORD as usize, 1);
            // Who sees anything of the move sees this.
            self.words.release();
            moves.moving = true;
        }
    }

    /// Says that what the lane moved is where it belongs.
    #[inline(always)]
    pub(super) fn end(self, moves: &mut Moves) {
        if moves.moving {
            self.words.release();
            self.words.fetch_add(ENDED_WORD as usize, 1);
            moves.moving = false;
        }
    }

    /// [`begin`](Self::begin) and [`end`](Self::end) for segments that are taken together, or given back at once
    /// if one is missing.
    #[inline(always)]
    pub(super) fn move_run(self, begins: bool) {
        self.words.release();
        self.words
            .fetch_add(select(begins, BEGUN_WORD, ENDED_WORD) as usize, 1);
        self.words.release();
    }

    /// From here on the lane wants to know of moves.
    #[inline(always)]
    pub(super) fn watch(self, moves: &mut Moves) {
        // In this order: what has not ended by the first look has begun by the second one.
        let ended = self.words.load(ENDED_WORD as usize);
        self.words.acquire();
        moves.since = self.words.load(BEGUN_WORD as usize);
        moves.still = ended == moves.since;
    }

    /// Whether nothing was on its way since, and no move of others began.
    #[inline(always)]
    pub(super) fn was_still(self, moves: Moves) -> bool {
        self.words.acquire();
        moves.still & (self.words.load(BEGUN_WORD as usize) == moves.since)
    }
}
