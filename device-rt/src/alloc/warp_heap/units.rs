//! Blocks of 5 to 32 units: bits side by side in the one word of a chunk that is handed out in units.

use super::geometry::UNITS_ROW;
use super::quick::WIDENED;
use super::row::{Row, UNITS_GRANULES};
use super::state::{FREE, UNITS, count_of, pack, tag_of};
use super::{Ask, Part, WarpHeap};
use crate::arch::Group;
use crate::bits::{low_mask, starts_of};
use crate::sync::hash;
use crate::thread;
use warpheap_api::{AllocError, HeapMemory, least, select};

/// Tries at the word of one chunk.
const TRIES: u32 = 8;
/// Instead of a place: there is none.
const NO_PLACE: u32 = 32;
/// Instead of a place: others were faster.
const LOST: u32 = 33;

impl WarpHeap {
    /// Units of a request that is too large for a slab.
    #[inline(always)]
    pub(super) fn units_of(self, ask: Ask) -> u32 {
        let shift = self.geometry.unit_shift();
        let part = ask.granules & ((1 << shift) - 1);
        (ask.granules >> shift) + (part != 0) as u32
    }

    /// Whether a request takes more than a chunk; one that is aligned to more does, since sizes are rounded
    /// up to alignments.
    #[inline(always)]
    pub(super) fn is_run(self, ask: Ask) -> bool {
        self.units_of(ask) > 32
    }

    /// Alignment in units.
    #[inline(always)]
    pub(super) fn align_units(self, ask: Ask) -> u32 {
        let units = ask.align >> self.geometry.unit_shift();
        units + (units == 0) as u32
    }

    /// Reaches for units where the calling lane's number says: in the chunk of its place in the row, and there in its own
    /// place. So lanes of a launch that all ask for as many do not meet, and fill chunk after chunk.
    #[inline(always)]
    pub(super) fn units_at_home(self, units: u32, align: u32) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        // Neither is ever zero, which no compiler knows.
        let blocks = 32 / (units | (units == 0) as u32);
        let blocks = blocks | (blocks == 0) as u32;
        let place = thread::index() / blocks;
        let bit = (thread::index() - place * blocks) * units;
        let chunk = geometry.home(UNITS_GRANULES, place);
        let state = words.load(geometry.state_word(chunk));
        let room = (tag_of(state) == UNITS) & (count_of(state) + units <= 32);
        let mut part = Part::NONE;
        if room | (state == FREE) {
            part = self.reach_units(chunk, units, align, bit);
            if (bit == 0) & (place & WIDENED == WIDENED) {
                let window = least(place + 1, geometry.places());
                words.fetch_max(geometry.window_word(UNITS_ROW), window);
            }
        }
        part
    }

    /// Reaches for units of a chunk: those from `first` on if they are free, else the first that are.
    #[inline(always)]
    pub(super) fn reach_units(self, chunk: u32, units: u32, align: u32, first: u32) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        let at = geometry.state_word(chunk);
        let bits = geometry.bits_word(chunk);
        let starts = starts_of(!words.load(bits), units) & aligned_places(align);
        let mut part = Part::NONE;
        if starts != 0 {
            let at_first = starts >> (first & 31) & 1 != 0;
            let bit = select(at_first, first, starts.trailing_zeros()) & 31;
            let wanted = low_mask(units) << bit;
            // As for slabs: both at the same time, and who finds the chunk free names it.
            let got = wanted & !words.fetch_or(bits, wanted);
            let state = words.fetch_add(at, units);
            let mut held = tag_of(state) == UNITS;
            if !held {
                held = self.named(chunk, state, pack(UNITS, 0));
            }
            if held & (got == wanted) {
                words.fetch_add(geometry.heads_word(chunk), 1 << bit);
                part.base = geometry.granule_of(chunk) + (bit << geometry.unit_shift());
                part.mask = 1;
            } else {
                words.fetch_and(bits, !got);
                words.fetch_sub(at, units);
            }
        }
        part
    }

    /// Collective: a block of units somewhere, for one lane.
    #[inline(always)]
    pub(super) fn find_units(self, group: Group, ask: Ask) -> Part {
        let units = self.units_of(ask);
        let row = Row::units(units);
        let mut walk = self.walk(group, row);
        let spread = group.broadcast(hash(thread::index()));
        let mut found = Part::NONE;
        while (found.mask == 0) & walk.goes_on(self.geometry.chunks) {
            let picked = self.step(group, &mut walk, row, spread);
            if picked.chunk != u32::MAX {
                if self.hold(group, picked.chunk, UNITS, units) {
                    found = self.claim_units(group, picked.chunk, units, self.align_units(ask));
                    walk.doubt(found.code != 0);
                } else {
                    walk.doubt(true);
                }
                if (found.mask != 0) & group.leads() {
                    self.note(row, picked.chunk, picked.opens);
                }
            }
        }
        found.code = walk.code();
        found
    }

    /// Collective: claims units side by side in a chunk on which the group holds so many.
    #[inline(always)]
    fn claim_units(self, group: Group, chunk: u32, units: u32, align: u32) -> Part {
        let words = self.words;
        let bits = self.geometry.bits_word(chunk);
        let mut place = LOST;
        if group.leads() {
            let mut tries = 0;
            while (place == LOST) & (tries < TRIES) {
                let free = !words.load(bits);
                let starts = starts_of(free, units) & aligned_places(align);
                let at = starts.trailing_zeros();
                place = select(starts == 0, NO_PLACE, LOST);
                tries += 1;
                if starts != 0 {
                    let wanted = low_mask(units) << at;
                    let got = wanted & !words.fetch_or(bits, wanted);
                    if got == wanted {
                        words.fetch_add(self.geometry.heads_word(chunk), 1 << at);
                        place = at;
                    } else {
                        words.fetch_and(bits, !got);
                    }
                }
            }
        }
        group.barrier();
        let place = group.broadcast(place);
        let found = place < 32;
        self.let_go(group, chunk, select(found, 0, units));
        let offset = (place & 31) << self.geometry.unit_shift();
        Part {
            base: self.geometry.granule_of(chunk) + offset,
            mask: found as u32,
            stride: 0,
            code: select(place == LOST, AllocError::Contended.code(), 0),
        }
    }

    /// Frees a block of units.
    #[inline(always)]
    pub(super) fn free_units(self, granule: u32, units: u32) {
        let (words, geometry) = (self.words, self.geometry);
        let chunk = geometry.chunk_of(granule);
        let place = geometry.offset_of(granule) >> geometry.unit_shift();
        let bits = geometry.bits_word(chunk);
        words.fetch_sub(geometry.heads_word(chunk), 1 << place);
        words.fetch_and(bits, !(low_mask(units) << place));
        words.fetch_sub(geometry.state_word(chunk), units);
    }
}

/// The places that are multiples of `align`, a power of two up to 32.
#[inline(always)]
const fn aligned_places(align: u32) -> u32 {
    u32::MAX / (low_mask(align) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_places_are_multiples() {
        for log in 0..=5u32 {
            let align = 1 << log;
            for place in 0..32u32 {
                let is = aligned_places(align) >> place & 1 == 1;
                assert_eq!(is, place % align == 0, "{place} at {align}");
            }
        }
    }
}
