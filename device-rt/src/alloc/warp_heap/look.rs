//! Where teams look for blocks that have no home, or found it taken.
//!
//! A look costs a trip to the cache, whatever it looks at. So each is at four words of bits, and what follows are two
//! atomics that are on the way together. The first looks (`look_near`) are at words side by side: in the chunk that the
//! warp uses now, then in any one of the row's window. They suffice for most teams, and need few registers. The others
//! (`look`) are at four chunks of the window, of which the fullest with room in its word is taken, or open one.

use super::class::Class;
use super::row::{Row, Want};
use super::state::{FREE, pack, tag_for, tag_of};
use super::window::{has_room, is_foreign, score, warp};
use super::{Part, WarpHeap};
use crate::bits::take_from;
use crate::sync::hash;
use crate::thread;
use warpheap_api::{HeapMemory, select};

/// Looks of a team before its warp searches together.
const TRIES: u32 = 8;

/// First looks of a team …
const TRIES_NEAR: u32 = 4;

/// … of which so many are at the chunk in use.
const TRIES_NEAR_HERE: u32 = 2;

/// Further looks at chunks in use, as long as they have room somewhere, count to this.
const TRIES_HERE: u32 = 3;

/// What a look at a word of a chunk's bits says.
#[derive(Clone, Copy)]
struct Glimpse {
    chunk: u32,
    word: u32,
    state: u32,
    /// Blocks of the word that look free.
    free: u32,
}

impl Glimpse {
    const NONE: Glimpse = Glimpse {
        chunk: 0,
        word: 0,
        state: FREE,
        free: 0,
    };
}

/// What came of reaching for blocks in four words of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Near {
    /// One of the words.
    pub word: u32,
    /// Which of its blocks the team has; none if it got none.
    pub mask: u32,
    /// Whether the chunk has room somewhere.
    pub room: bool,
}

/// The best of some.
#[derive(Clone, Copy)]
struct Best {
    glimpse: Glimpse,
    /// As [`score`] says; 0 if none is good.
    score: u32,
    /// Whether a chunk has room, if not in the word that was looked at.
    room: bool,
    /// Chunks of other rows.
    foreign: u32,
}

impl Best {
    const NONE: Best = Best {
        glimpse: Glimpse::NONE,
        score: 0,
        room: false,
        foreign: 0,
    };

    /// This one, or another one if that is better and its word has so many blocks.
    #[inline(always)]
    fn or(self, row: Row, other: Glimpse, count: u32) -> Best {
        let theirs = score(row, other.state);
        let better = (other.free.count_ones() >= count) & (theirs > self.score);
        let mine = self.glimpse;
        Best {
            glimpse: Glimpse {
                chunk: select(better, other.chunk, mine.chunk),
                word: select(better, other.word, mine.word),
                state: select(better, other.state, mine.state),
                free: select(better, other.free, mine.free),
            },
            score: select(better, theirs, self.score),
            room: self.room | has_room(row, other.state),
            foreign: self.foreign + is_foreign(row, other.state) as u32,
        }
    }
}

/// Stretches of `count` bits, rounded up to a power of two, begin at these bits of a number.
#[inline(always)]
const fn stretches(count: u32) -> u32 {
    u32::MAX << ((32 - count.wrapping_sub(1).leading_zeros()) & 31)
}

impl WarpHeap {
    /// Blocks for a team of so many lanes, where most teams find some: the granule of the block of bit 0 of a word, and
    /// which of 32 blocks; none if there are none. Teams of a warp do this side by side.
    #[inline(always)]
    pub(super) fn look_near(self, class: Class, count: u32) -> (u32, u32) {
        let (words, geometry) = (self.words, self.geometry);
        let current = geometry.current_word(class.index, warp());
        let mut entry = words.glance(current);
        if entry == 0 {
            // Where a launch begins, the copy nearby is old.
            entry = words.load(current);
        }
        let mut answer = (0, 0);
        let mut seed = hash(thread::index());
        let mut tries = select(entry == 0, TRIES_NEAR, 0);
        while tries < TRIES_NEAR {
            let here = tries < TRIES_NEAR_HERE;
            let mut chunk = entry.wrapping_sub(1);
            if !here {
                let window = words.glance(geometry.window_word(class.index));
                chunk = self.chunk_at(
                    class.index,
                    class.granules,
                    seed % (window | (window == 0) as u32),
                );
            }
            let found = self.reach_near(class, count, chunk, seed);
            tries = select(here & !found.room, TRIES_NEAR_HERE, tries + 1);
            if found.mask != 0 {
                answer = (self.block_zero(chunk, found.word, class), found.mask);
                tries = TRIES_NEAR;
                if !here {
                    words.store(current, chunk + 1);
                }
            }
            seed = hash(seed);
        }
        answer
    }

    /// Looks at four words of a chunk side by side, and reaches for the blocks of a team in one of them.
    #[inline(always)]
    pub(super) fn reach_near(self, class: Class, count: u32, chunk: u32, seed: u32) -> Near {
        let (words, geometry) = (self.words, self.geometry);
        let name = pack(tag_for(class.index), 0);
        // In one sector.
        let first = self.some_word(class, seed) & !3;
        let state = words.load(geometry.state_word(chunk));
        let bits = geometry.bits_word(chunk) + first as usize;
        let taken = [
            words.load(bits),
            words.load(bits + 1),
            words.load(bits + 2),
            words.load(bits + 3),
        ];
        let room = state.wrapping_sub(name) <= class.blocks().wrapping_sub(count);
        let (mut word, mut free) = (first, 0);
        // Teams that look at the same words shall not all reach for the same one: each goes by an order of its own.
        let turn = seed >> 5 & 3;
        let mut best = 0;
        let mut at = 0;
        while at < 4 {
            let its = !taken[at as usize] & class.bits_in(first + at);
            let order = (at ^ turn) + 1;
            let better = (its.count_ones() >= count) & (order > best);
            best = select(better, order, best);
            word = select(better, first + at, word);
            free = select(better, its, free);
            at += 1;
        }
        let bits = geometry.bits_word(chunk) + word as usize;
        let mut mask = 0;
        if room & (free.count_ones() >= count) {
            // As `take` does, but that a chunk which lost its name meanwhile is left.
            let wanted = take_from(free, count, seed & 31 & stretches(count));
            let got = wanted & !words.fetch_or(bits, wanted);
            let state = words.fetch_add(geometry.state_word(chunk), count);
            if (tag_of(state) == tag_of(name)) & (got == wanted) {
                mask = wanted;
            } else {
                if got != 0 {
                    words.fetch_and(bits, !got);
                }
                words.fetch_sub(geometry.state_word(chunk), count);
            }
        }
        Near { word, mask, room }
    }

    /// Blocks for a team, in one word of some chunk, for one that looked near in vain or did not. Teams of a warp do this
    /// side by side.
    #[inline(always)]
    pub(super) fn look(self, row: Row, class: Class, want: Want, near: bool) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        let current = geometry.current_word(row.index, warp());
        let window_word = geometry.window_word(row.index);
        let mut part = Part::NONE;
        // The chunk in use that was looked at, plus one, and whether it had room.
        let (mut seen, mut room) = (0, false);
        let mut misses = 0;
        // Who did not look near begins with one word of the chunk in use.
        let mut tries = near as u32;
        while (part.mask == 0) & (tries < TRIES) {
            let seed = hash(thread::index() ^ tries << 28);
            let seeds = [seed, hash(seed), hash(seed ^ 1), hash(seed ^ 2)];
            let entry = if tries == 0 {
                words.glance(current)
            } else {
                words.load(current)
            };
            // Another one than before: somebody found room there.
            let here = (entry != 0) & ((entry != seen) | room) & (tries < TRIES_HERE);
            let mut window = 0;
            let mut chunks = [entry.wrapping_sub(1); 4];
            if !here {
                window = words.glance(window_word);
                if window != 0 {
                    // The last one among the newest quarter. They are on the way together.
                    chunks = [
                        self.chunk_at(row.index, row.granules, seeds[0] % window),
                        self.chunk_at(row.index, row.granules, seeds[1] % window),
                        self.chunk_at(row.index, row.granules, seeds[2] % window),
                        self.chunk_at(
                            row.index,
                            row.granules,
                            window - 1 - seeds[3] % (window / 4 + 1),
                        ),
                    ];
                }
            }
            let mut best = Best::NONE;
            if here | (window != 0) {
                let first = self.glimpse(class, chunks[0], self.some_word(class, seeds[0]));
                let mut others = [Glimpse::NONE; 3];
                // One is enough at first, where most have room.
                if tries != 0 {
                    others = [
                        self.glimpse(class, chunks[1], self.some_word(class, seeds[1])),
                        self.glimpse(class, chunks[2], self.some_word(class, seeds[2])),
                        self.glimpse(class, chunks[3], self.some_word(class, seeds[3])),
                    ];
                }
                best = best.or(row, first, want.count);
                best = best.or(row, others[0], want.count);
                best = best.or(row, others[1], want.count);
                best = best.or(row, others[2], want.count);
            }
            let misses_now = !here & !best.room;
            // Not at the first miss: one in four of the others may have room.
            let opens = misses_now & ((misses != 0) | (window == 0));
            let mut opened = 0;
            if opens {
                let opening = self.opening(row, want, window);
                if opening.place < geometry.places() {
                    // Teams that open the same chunk do not look at the same word of it.
                    let word = opening.rank.wrapping_mul(want.count) >> 5;
                    let word = word % (class.words() | (class.words() == 0) as u32);
                    let chunk = geometry.home(row.granules, opening.place);
                    let fresh = Best::NONE.or(row, self.glimpse(class, chunk, word), want.count);
                    if fresh.score > best.score {
                        best = fresh;
                        opened = opening.place + 1;
                    }
                }
            }
            if !here & (best.foreign == 4) {
                self.narrow(row, window);
            }
            if best.score != 0 {
                let glimpse = best.glimpse;
                let (mask, named) = self.take(row, glimpse, seed, want.count);
                part = Part {
                    base: self.block_zero(glimpse.chunk, glimpse.word, class),
                    mask,
                    stride: class.granules,
                    code: 0,
                };
                if (mask != 0) & !here {
                    words.store(current, glimpse.chunk + 1);
                    // Only who gave it its name, or found it with one: else all who open it would meet here.
                    if (opened != 0) & (named | (glimpse.state != FREE)) {
                        words.fetch_max(window_word, opened);
                    }
                }
            }
            seen = select(here, entry, seen);
            room = here & best.room;
            misses += misses_now as u32;
            tries += 1;
        }
        part
    }

    /// A word of a chunk's bits.
    #[inline(always)]
    fn some_word(self, class: Class, seed: u32) -> u32 {
        ((seed >> 16) * class.words()) >> 16
    }

    #[inline(always)]
    fn glimpse(self, class: Class, chunk: u32, word: u32) -> Glimpse {
        let (words, geometry) = (self.words, self.geometry);
        let state = words.load(geometry.state_word(chunk));
        let taken = words.load(geometry.bits_word(chunk) + word as usize);
        Glimpse {
            chunk,
            word,
            state,
            free: !taken & class.bits_in(word),
        }
    }

    /// Reaches for blocks that look free: which of the word the team has, all or none, and whether it gave the chunk its
    /// name.
    #[inline(always)]
    fn take(self, row: Row, at: Glimpse, seed: u32, count: u32) -> (u32, bool) {
        let (words, geometry) = (self.words, self.geometry);
        // Not all who look at the word from its first bit on; but stretches stay whole if they can.
        let wanted = take_from(at.free, count, seed & 31 & stretches(count));
        let bits = geometry.bits_word(at.chunk) + at.word as usize;
        let state_word = geometry.state_word(at.chunk);
        let got = wanted & !words.fetch_or(bits, wanted);
        let state = words.fetch_add(state_word, count);
        let mut held = tag_of(state) == row.tag;
        if !held {
            held = self.named(at.chunk, state, pack(row.tag, 0));
        }
        let all = held & (got == wanted);
        if !all {
            if got != 0 {
                words.fetch_and(bits, !got);
            }
            words.fetch_sub(state_word, count);
        }
        (select(all, wanted, 0), state == FREE)
    }
}
