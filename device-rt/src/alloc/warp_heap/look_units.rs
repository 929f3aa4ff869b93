//! Where lanes look for units that have no home, or found it taken: in the chunk that the warp uses now, and then in
//! others of the row of units.

use super::row::{Row, Want};
use super::span::NO_PLACE;
use super::state::{FREE, UNITS, count_of, pack, tag_of};
use super::window::{has_room, is_foreign, score, warp};
use super::{Part, WarpHeap};
use crate::sync::hash;
use crate::thread;
use warpheap_api::{HeapMemory, least, select};

/// Chunks that a lane tries before the warp looks for one together: the one in use, the best of four, and twice the
/// best of four others or a new one.
const TRIES: u32 = 4;

/// A chunk to try.
#[derive(Clone, Copy)]
struct Choice {
    /// The chunk; `u32::MAX` if there is none.
    chunk: u32,
    /// The place behind it if that is new to the window, else 0.
    window: u32,
}

impl WarpHeap {
    /// Units for a lane. Lanes of a warp do this side by side.
    #[inline(always)]
    pub(super) fn look_for_units(self, row: Row, want: Want) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        let current = geometry.current_word(row.index, warp());
        let mut part = Part::NONE;
        let mut tries = 0;
        while (part.mask == 0) & (tries < TRIES) {
            let seed = hash(thread::index() ^ tries << 28);
            let mut choice = Choice {
                chunk: words.load(current).wrapping_sub(1),
                window: 0,
            };
            if tries != 0 {
                choice = self.choose(row, seed, want, tries > 1);
            }
            if choice.chunk != u32::MAX {
                let state = words.load(geometry.state_word(choice.chunk));
                if (state == FREE) | has_room(row, state) {
                    part = self.take_units(want, choice.chunk);
                }
                if (part.mask != 0) & (tries != 0) {
                    words.store(current, choice.chunk + 1);
                    if choice.window != 0 {
                        words.fetch_max(geometry.window_word(row.index), choice.window);
                    }
                }
            }
            tries += 1;
        }
        part
    }

    /// Takes units of a chunk; of one in which none is taken rather such as go on from the end of the chunk before it.
    #[inline(always)]
    fn take_units(self, want: Want, chunk: u32) -> Part {
        let geometry = self.geometry;
        let mut part = Part::NONE;
        let before = chunk - least(chunk, 1);
        let state = self.words.load(geometry.state_word(chunk));
        let other = self.words.load(geometry.state_word(before));
        let empty = (state == FREE) | ((tag_of(state) == UNITS) & (count_of(state) == 0));
        if empty & (tag_of(other) == UNITS) {
            part = self.reach_units(before, want.count, want.align, NO_PLACE);
        }
        if part.mask == 0 {
            part = self.reach_units(chunk, want.count, want.align, NO_PLACE);
        }
        part
    }

    /// The best of a few chunks of the row that have room, or one that nobody uses at a place of the row; with
    /// `opens` also behind its window.
    #[inline(always)]
    fn choose(self, row: Row, seed: u32, want: Want, opens: bool) -> Choice {
        let (words, geometry) = (self.words, self.geometry);
        let window = words.load(geometry.window_word(row.index));
        let mut choice = Choice {
            chunk: u32::MAX,
            window: 0,
        };
        let mut best = 0;
        if window != 0 {
            let mut foreign = 0;
            let mut any = seed;
            let mut looks = 0;
            while looks < 4 {
                let chunk = self.chunk_at(
                    row.index,
                    row.granules,
                    any % (window | (window == 0) as u32),
                );
                let state = words.load(geometry.state_word(chunk));
                // Full, for who looks for more than there is side by side.
                let place = self.place_in(chunk, want.count, want.align, NO_PLACE);
                let full = (tag_of(state) == UNITS) & (place == NO_PLACE);
                let state = select(full, pack(UNITS, 32), state);
                let score = score(row, state);
                choice.chunk = select(score > best, chunk, choice.chunk);
                best = select(score > best, score, best);
                foreign += is_foreign(row, state) as u32;
                any = hash(any);
                looks += 1;
            }
            if foreign == 4 {
                self.narrow(row, window);
            }
        }
        if opens & (best < 2) {
            let place = self.opening(row, want, window).place;
            if place < geometry.places() {
                let chunk = geometry.home(row.granules, place);
                let state = words.load(geometry.state_word(chunk));
                if has_room(row, state) | ((state == FREE) & (best == 0)) {
                    choice = Choice {
                        chunk,
                        window: place + 1,
                    };
                }
            }
        }
        choice
    }
}
