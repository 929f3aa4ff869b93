//! Where teams look that have no home: lanes that ask alone, or of which some ask for one class and some for
//! another.
//!
//! They share chunks. Each row has *currents*, words that name the chunks in use; which of them a warp reads is told
//! by its number. If that chunk has no blocks left, they look at a few others of the row's *window*: places that were
//! opened before, by cells too. The fullest that still has room is taken, so that the others become idle. Only where
//! none has room a chunk is opened, at a place behind the window that is the same for many warps, so that a launch
//! opens as many as it fills and not one for each warp. The window grows by a quarter at a time. Where it no longer
//! has chunks of the class it shrinks.
//!
//! All of this says only where to look. What is written here may be old, or overwritten by somebody else, and
//! nothing is lost: what decides are a chunk's state and bits.

use super::class::Class;
use super::geometry::UNITS_ROW;
use super::quick::Attempt;
use super::row::{Row, Want};
use super::state::{FREE, count_of, pack, tag_for, tag_of};
use super::{Part, WarpHeap};
use crate::arch;
use crate::bits::{low_mask, starts_of, take_from};
use crate::sync::hash;
use crate::thread;
use warpheap_api::{HeapMemory, select};

/// Words of a chunk that a team tries before it looks at another chunk.
const WORDS: u32 = 4;

/// Chunks that it tries before the warp looks for one together: the one in use, the best of four, and twice the
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

/// The best of the chunks that were looked at.
#[derive(Clone, Copy)]
struct Probe {
    chunk: u32,
    /// More for fuller chunks; less again for nearly full ones, of which most words are full; 1 for one that nobody
    /// uses.
    score: u32,
    /// How many were of other rows.
    foreign: u32,
}

impl Probe {
    const NONE: Probe = Probe {
        chunk: u32::MAX,
        score: 0,
        foreign: 0,
    };
    /// Score of a chunk that is nearly full.
    const NEARLY_FULL: u32 = 2;

    /// This one, or that chunk in this state if it is better.
    #[inline(always)]
    fn or(self, row: Row, chunk: u32, state: u32) -> Probe {
        let (own, count) = (tag_of(state) == row.tag, count_of(state));
        let nearly_full = count > row.most - row.most / 8;
        let score = select(
            nearly_full,
            Self::NEARLY_FULL,
            Self::NEARLY_FULL + 1 + count,
        );
        let score = select(own & (count <= row.limit), score, (state == FREE) as u32);
        let better = score > self.score;
        Probe {
            chunk: select(better, chunk, self.chunk),
            score: select(better, score, self.score),
            foreign: self.foreign + (!own & (state != FREE)) as u32,
        }
    }
}

/// The number of the calling warp in the launch.
#[inline(always)]
pub(super) fn warp() -> u32 {
    thread::index() >> arch::warp_width().trailing_zeros()
}

impl WarpHeap {
    /// The word with the chunk that the calling warp uses for blocks of a class.
    #[inline(always)]
    pub(super) fn current_word(self, class: Class) -> usize {
        self.geometry.current_word(class.index, warp())
    }

    /// The word of bits that the calling lane looks at first in each chunk.
    #[inline(always)]
    pub(super) fn own_word(self, class: Class) -> u32 {
        ((hash(thread::index()) >> 16) * class.words()) >> 16
    }

    /// `count` blocks side by side that look free in a word of a chunk; 0 if there are none.
    #[inline(always)]
    pub(super) fn seen(self, class: Class, chunk: u32, word: u32, count: u32) -> u32 {
        let (words, geometry) = (self.words, self.geometry);
        let taken = words.load(geometry.bits_word(chunk) + word as usize);
        let state = words.load(geometry.state_word(chunk));
        let own = tag_of(state) == tag_for(class.index);
        let room = count_of(state) + count <= class.blocks();
        let starts = starts_of(!taken & class.bits_in(word), count);
        let at = low_mask(count) << (starts.trailing_zeros() & 31);
        select(own & room & (starts != 0), at, 0)
    }

    /// Puts back what a team reached for and did not get all of.
    #[inline(always)]
    pub(super) fn put_back(
        self,
        class: Class,
        count: u32,
        home: bool,
        attempt: Attempt,
        wanted: u32,
    ) {
        let (words, geometry) = (self.words, self.geometry);
        let at = self.home(class, count);
        let word = select(home, at.word, self.own_word(class));
        let surplus = wanted & !attempt.old;
        if surplus != 0 {
            words.fetch_and(
                geometry.bits_word(attempt.chunk()) + word as usize,
                !surplus,
            );
        }
        words.fetch_sub(geometry.state_word(attempt.chunk()), count);
    }

    /// Looks for blocks, or units, in the chunk that the warp uses now, and then in others. Teams of a warp do this
    /// side by side.
    #[inline(always)]
    pub(super) fn look(self, row: Row, class: Class, want: Want) -> Part {
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
                choice = self.choose(row, seed, want.many, tries > 1);
            }
            if choice.chunk != u32::MAX {
                let state = words.load(geometry.state_word(choice.chunk));
                let room = (tag_of(state) == row.tag) & (count_of(state) <= row.limit);
                if (state == FREE) | room {
                    part = self.take(row, class, want, choice.chunk, seed);
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

    /// Takes blocks or units of a chunk that looks as if it had them, or that nobody uses.
    #[inline(always)]
    fn take(self, row: Row, class: Class, want: Want, chunk: u32, seed: u32) -> Part {
        if row.index == UNITS_ROW {
            return self.reach_units(chunk, want.count, want.align, 0);
        }
        let word = self.geometry.state_word(chunk);
        let state = self.words.fetch_add(word, want.count);
        let mut held = tag_of(state) == row.tag;
        if !held {
            held = self.named(chunk, state, pack(row.tag, 0));
        }
        let mut part = Part::NONE;
        if held {
            part = self.take_word(class, chunk, seed, want.count);
        }
        if part.mask == 0 {
            self.words.fetch_sub(word, want.count);
        }
        part
    }

    /// The best of a few chunks of the row that have room, or one that nobody uses at a place of the row; with
    /// `opens` also behind its window.
    #[inline(always)]
    fn choose(self, row: Row, seed: u32, many: u32, opens: bool) -> Choice {
        let (words, geometry) = (self.words, self.geometry);
        let window = words.load(geometry.window_word(row.index));
        let mut best = Probe::NONE;
        if window != 0 {
            // The last one among the newest quarter.
            let [first, second, third, last] = [seed, hash(seed), hash(seed ^ 1), hash(seed ^ 2)];
            let newest = window - 1 - last % (window / 4 + 1);
            // One behind the other, so that they are on the way together.
            let chunks = [
                self.chunk_at(row, first % window),
                self.chunk_at(row, second % window),
                self.chunk_at(row, third % window),
                self.chunk_at(row, newest),
            ];
            let states = [
                words.load(geometry.state_word(chunks[0])),
                words.load(geometry.state_word(chunks[1])),
                words.load(geometry.state_word(chunks[2])),
                words.load(geometry.state_word(chunks[3])),
            ];
            best = best.or(row, chunks[0], states[0]);
            best = best.or(row, chunks[1], states[1]);
            best = best.or(row, chunks[2], states[2]);
            best = best.or(row, chunks[3], states[3]);
            if best.foreign == 4 {
                let less = window - window / 4 - 1;
                words.compare_exchange(geometry.window_word(row.index), window, less);
            }
        }
        let mut choice = Choice {
            chunk: best.chunk,
            window: 0,
        };
        // Behind the window, spread over a quarter as many places as it has; in a launch in which all warps ask for
        // many, over an eighth of what they would take.
        if opens & (best.score < Probe::NEARLY_FULL) {
            let blocks = (thread::count() >> arch::warp_width().trailing_zeros()) * many;
            let all = blocks / row.most / 8;
            let spread = window / 4 + 1;
            let place = window + hash(warp()) % select(all > spread, all, spread);
            if place < geometry.places() {
                let chunk = geometry.home(row.granules, place);
                let state = words.load(geometry.state_word(chunk));
                let own = (tag_of(state) == row.tag) & (count_of(state) <= row.limit);
                if own | ((state == FREE) & (best.score == 0)) {
                    choice = Choice {
                        chunk,
                        window: place + 1,
                    };
                }
            }
        }
        choice
    }

    /// The chunk at a place of a row.
    #[inline(always)]
    fn chunk_at(self, row: Row, place: u32) -> u32 {
        let entry = self
            .words
            .load(self.geometry.directory_word(row.index, place));
        let home = self.geometry.home(row.granules, place);
        select(entry == 0, home, entry.wrapping_sub(1))
    }

    /// The leader of a search that opened a chunk adds it to the row, and notes where the search ended.
    #[inline(always)]
    pub(super) fn note(self, row: Row, chunk: u32, opened: bool) {
        let (words, geometry) = (self.words, self.geometry);
        words.store(geometry.ended_word(row.index), chunk + 1);
        words.store(geometry.current_word(row.index, warp()), chunk + 1);
        if opened {
            let window = words.load(geometry.window_word(row.index));
            let any = hash(chunk) & (geometry.places() - 1);
            let place = select(window < geometry.places(), window, any);
            words.store(geometry.directory_word(row.index, place), chunk + 1);
            words.fetch_max(geometry.window_word(row.index), place + 1);
        }
    }

    /// Takes `count` blocks in one of a few words of a chunk on which the team holds as many.
    #[inline(always)]
    fn take_word(self, class: Class, chunk: u32, seed: u32, count: u32) -> Part {
        let words = self.words;
        let first = self.geometry.bits_word(chunk);
        let mut mask = 0;
        let mut word = 0;
        let mut seed = seed;
        let mut tries = 0;
        while (mask == 0) & (tries < WORDS) {
            word = ((seed >> 16) * class.words()) >> 16;
            let free = !words.load(first + word as usize) & class.bits_in(word);
            let enough = free.count_ones() >= count;
            let reach = take_from(free, select(enough, count, 0), 0);
            if reach != 0 {
                let old = words.fetch_or(first + word as usize, reach);
                mask = select(old & reach == 0, reach, 0);
                if (mask == 0) & (reach & !old != 0) {
                    words.fetch_and(first + word as usize, !(reach & !old));
                }
            }
            seed = hash(seed);
            tries += 1;
        }
        Part {
            base: self.block_zero(chunk, word, class),
            mask,
            stride: class.granules,
            code: 0,
        }
    }
}
