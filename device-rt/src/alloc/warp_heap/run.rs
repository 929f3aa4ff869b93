//! Blocks of more than a chunk: whole chunks side by side, and the first units of one behind them.
//!
//! They come from the end of the pool, chunks of slabs from the front, so that neither breaks up the
//! room of the other before it has to.

use super::state::{FREE, LOCKED, RUN, RUN_HEAD, UNITS, is_idle, pack, tag_of};
use super::window::warp;
use super::{Ask, Part, WarpHeap};
use crate::arch::{self, Group};
use crate::bits::low_mask;
use crate::sync::last_lane;
use warpheap_api::{AllocError, HeapMemory, LaneMask, select};

/// A run of chunks.
#[derive(Clone, Copy)]
struct Shape {
    /// Whole chunks.
    whole: u32,
    /// Units of the chunk behind them, 0 to 31.
    tail: u32,
}

impl Shape {
    #[inline(always)]
    const fn of(units: u32) -> Self {
        Shape {
            whole: units >> 5,
            tail: units & 31,
        }
    }

    /// Chunks in all.
    #[inline(always)]
    const fn chunks(self) -> u32 {
        self.whole + (self.tail != 0) as u32
    }

    /// The state of chunk number `at` of the run.
    #[inline(always)]
    const fn state(self, at: u32) -> u32 {
        let whole = select(at == 0, pack(RUN_HEAD, 0), pack(RUN, 0));
        select(at < self.whole, whole, pack(UNITS, self.tail))
    }
}

impl WarpHeap {
    /// A run at the place that belongs to this lane, if it is free there; `u32::MAX` if not.
    #[inline(always)]
    pub(super) fn run_at_once(self, ask: Ask, count: u32, rank: u32) -> u32 {
        let geometry = self.geometry;
        let shape = Shape::of(self.units_of(ask));
        let chunks = shape.chunks();
        let places = geometry.chunks / chunks;
        let mut granule = u32::MAX;
        if (places != 0) & (chunks <= MOST_AT_ONCE) {
            let place = (warp() * count + rank) % places;
            let chunk = geometry.chunks - (place + 1) * chunks;
            let aligned = geometry.granule_of(chunk) & (ask.align - 1) == 0;
            let mut at = 0;
            while aligned & (at < chunks) {
                if !self.take_chunk(shape, chunk, at, false) {
                    break;
                }
                at += 1;
            }
            if at == chunks {
                granule = geometry.granule_of(chunk);
            } else {
                while at > 0 {
                    at -= 1;
                    self.give_chunk(shape, chunk, at);
                }
            }
        }
        granule
    }

    /// Collective: a block of more than a slab's somewhere, for one lane.
    #[inline(always)]
    pub(super) fn find_large(self, group: Group, ask: Ask) -> Part {
        if self.is_run(ask) {
            self.find_run(group, ask)
        } else {
            self.find_units(group, ask)
        }
    }

    #[inline(always)]
    fn find_run(self, group: Group, ask: Ask) -> Part {
        let geometry = self.geometry;
        let shape = Shape::of(self.units_of(ask));
        let chunks = shape.chunks();
        let rank = group.rank();
        let mut found = Part::NONE;
        let mut doubt = false;
        // First free chunks alone, then also such as have a use but nothing taken.
        let mut idle_too = false;
        let mut rounds = 0;
        while (found.mask == 0) & (rounds < 2) {
            // From the end: how many good chunks lie directly behind those that are looked at.
            let mut behind = 0;
            let mut done = 0;
            while (found.mask == 0) & (done < geometry.chunks) {
                let at = done + rank;
                let inside = at < geometry.chunks;
                let chunk = geometry.chunks - 1 - select(inside, at, 0);
                let state = self.words.load(geometry.state_word(chunk));
                let good = inside & ((state == FREE) | (idle_too & is_idle(state)));
                let unsettled =
                    (tag_of(state) == LOCKED) | ((state != FREE) & (tag_of(state) == FREE));
                doubt |= group.any(inside & unsettled);
                // Good chunks from this one on: back to the last lane before it that has none.
                let bad = group.ballot(!good);
                let stop = bad.and(LaneMask::below(arch::lane()));
                let since_stop = rank.wrapping_sub(group.lanes().rank(last_lane(stop, 0)));
                let length = select(stop.is_empty(), rank + 1 + behind, since_stop);
                let length = select(good, length, 0);
                let aligned = geometry.granule_of(chunk) & (ask.align - 1) == 0;
                let fits = group.ballot(aligned & (length >= chunks));
                if !fits.is_empty() {
                    let first = group.shuffle(chunk, fits.first());
                    if self.take_run(group, shape, first, idle_too) {
                        found.base = geometry.granule_of(first);
                        found.mask = 1;
                    } else {
                        doubt = true;
                    }
                }
                behind = group.broadcast(length);
                done += group.count();
            }
            idle_too = true;
            rounds += 1;
        }
        let contended = AllocError::Contended.code();
        found.code = select(doubt, contended, AllocError::Exhausted.code());
        found
    }

    /// Collective: takes all chunks of a run or none.
    #[inline(always)]
    fn take_run(self, group: Group, shape: Shape, first: u32, idle_too: bool) -> bool {
        let chunks = shape.chunks();
        let mut at = group.rank();
        let begin = at;
        let mut good = true;
        while good & (at < chunks) {
            good = self.take_chunk(shape, first, at, idle_too);
            at += select(good, group.count(), 0);
        }
        let all = group.all(good);
        while !all & (at > begin) {
            at -= group.count();
            self.give_chunk(shape, first, at);
        }
        all
    }

    /// Takes chunk number `at` of a run.
    #[inline(always)]
    fn take_chunk(self, shape: Shape, first: u32, at: u32, idle_too: bool) -> bool {
        let words = self.words;
        let chunk = first + at;
        let word = self.geometry.state_word(chunk);
        let state = shape.state(at);
        let units = select(at < shape.whole, 0, low_mask(shape.tail));
        let bits = self.geometry.bits_word(chunk);
        // The units before the tag: once others see it, they reach for what is left.
        let mut got = 0;
        if units != 0 {
            got = units & !words.fetch_or(bits, units);
        }
        let mut taken = false;
        if got == units {
            let old = words.compare_exchange(word, FREE, state);
            taken = old == FREE;
            if idle_too & is_idle(old) {
                taken = words.compare_exchange(word, old, pack(LOCKED, 0)) == old;
                if taken {
                    let mut set = words.load(bits) & !units;
                    let mut other = 1;
                    while other < self.words_of(tag_of(old)) {
                        set |= words.load(bits + other as usize);
                        other += 1;
                    }
                    taken = set == 0;
                    words.acquire();
                    words.release();
                    let next = select(taken, state, old);
                    words.fetch_add(word, next.wrapping_sub(pack(LOCKED, 0)));
                }
            }
        }
        if !taken & (got != 0) {
            words.fetch_and(bits, !got);
        }
        taken
    }

    /// Gives chunk number `at` of a run back.
    #[inline(always)]
    fn give_chunk(self, shape: Shape, first: u32, at: u32) {
        let chunk = first + at;
        let word = self.geometry.state_word(chunk);
        let bits = self.geometry.bits_word(chunk);
        if at < shape.whole {
            // With counts of teams that added theirs in vain it becomes a chunk of no units instead: who
            // comes later could not tell it from one that is about to be named.
            let state = shape.state(at);
            if self.words.compare_exchange(word, state, FREE) != state {
                self.words
                    .fetch_add(word, pack(UNITS, 0).wrapping_sub(state));
            }
        } else {
            self.words.fetch_and(bits, !low_mask(shape.tail));
            self.words.fetch_sub(word, shape.tail);
        }
    }

    /// Collective: frees a run.
    #[inline(always)]
    pub(super) fn free_run(self, group: Group, first: u32, units: u32) {
        let shape = Shape::of(units);
        let mut at = group.rank();
        while at < shape.chunks() {
            self.give_chunk(shape, first, at);
            at += group.count();
        }
    }
}

/// Chunks of the longest run that a lane takes by itself.
const MOST_AT_ONCE: u32 = 16;
