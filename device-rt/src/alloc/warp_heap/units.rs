//! Blocks of 5 to 32 units: bits side by side in the words of chunks that are handed out in units, one word each.

use super::geometry::UNITS_ROW;
use super::quick::WIDENED;
use super::row::{Row, UNITS_GRANULES};
use super::span::{NO_PLACE, Span, first_place, place_of};
use super::state::{FREE, UNITS, pack, tag_of};
use super::{Ask, Part, WarpHeap};
use crate::arch::{self, Group};
use crate::bits::low_mask;
use crate::sync::hash;
use crate::thread;
use warpheap_api::{AllocError, HeapMemory, least, select};

/// Tries at the word of one chunk.
const TRIES: u32 = 8;
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

    /// Reaches for units where the calling lane's number says: blocks of all lanes lie one behind the other, over the ends of
    /// chunks too. So lanes of a launch that all ask for as many do not meet, and fill chunk after chunk.
    #[inline(always)]
    pub(super) fn units_at_home(self, units: u32, align: u32) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        let at = thread::index().wrapping_mul(units);
        let (place, bit) = (at >> 5, at & 31);
        let mut part = Part::NONE;
        // A number that is too large for the product would lead to a place of another lane, no more.
        if place < geometry.places() {
            let chunk = geometry.home(UNITS_GRANULES, place);
            part = self.reach_units(chunk, units, align, bit);
            if (bit < units) & (place & WIDENED == WIDENED) {
                let window = least(place + 1, geometry.places());
                words.fetch_max(geometry.window_word(UNITS_ROW), window);
            }
        }
        part
    }

    /// The units of a chunk that look free, as bits: none if it has another use.
    #[inline(always)]
    fn free_units_of(self, chunk: u32) -> u32 {
        let (words, geometry) = (self.words, self.geometry);
        let state = words.load(geometry.state_word(chunk));
        let taken = words.load(geometry.bits_word(chunk));
        let own = (tag_of(state) == UNITS) | (state == FREE);
        select(own, !taken, 0)
    }

    /// The place in a chunk where so many units look free, over its end if need be: `wish` if it does, and if there is none
    /// [`NO_PLACE`]. Without a wish the first block of a chunk lies where [`first_place`] says.
    #[inline(always)]
    pub(super) fn place_in(self, chunk: u32, units: u32, align: u32, wish: u32) -> u32 {
        let free = self.free_units_of(chunk);
        let aligned = units & (align - 1) == 0;
        let opens = (free == u32::MAX) & (wish == NO_PLACE) & aligned;
        let wish = select(opens, first_place(chunk, units), wish);
        let wished = Span::new(units, wish & 31);
        let good = (wish < NO_PLACE) & (wished.here & !free == 0);
        let mut place = place_of(free, 0, units, align);
        place = select(good & (wished.behind == 0), wish, place);
        // Next to the chunk itself only where it tells something.
        let over = (good & (wished.behind != 0)) | ((place == NO_PLACE) & (free >> 31 != 0));
        if over & (chunk + 1 < self.geometry.chunks) {
            let behind = self.free_units_of(chunk + 1);
            let good = good & (wished.behind & !behind == 0);
            place = select(good, wish, place_of(free, behind, units, align));
        }
        place
    }

    /// Reaches for units that look free in a chunk, or over its end: at `wish` if they are free there, else where [`place_of`] says.
    #[inline(always)]
    pub(super) fn reach_units(self, chunk: u32, units: u32, align: u32, wish: u32) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        let place = self.place_in(chunk, units, align, wish);
        let mut part = Part::NONE;
        if place < NO_PLACE {
            let span = Span::new(units, place);
            let mut got = self.reach_part(chunk, span.here);
            if got & (span.behind != 0) {
                got = self.reach_part(chunk + 1, span.behind);
                if !got {
                    self.give_part(chunk, span.here, span.here.count_ones());
                }
            }
            if got {
                words.fetch_add(geometry.heads_word(chunk), 1 << place);
                part.base = geometry.granule_of(chunk) + (place << geometry.unit_shift());
                part.mask = 1;
            }
        }
        part
    }

    /// Reaches for these units of a chunk, all or none.
    #[inline(always)]
    fn reach_part(self, chunk: u32, wanted: u32) -> bool {
        let (words, geometry) = (self.words, self.geometry);
        let count = wanted.count_ones();
        // As for slabs: both at the same time, and who finds the chunk free names it.
        let got = wanted & !words.fetch_or(geometry.bits_word(chunk), wanted);
        let state = words.fetch_add(geometry.state_word(chunk), count);
        let mut held = tag_of(state) == UNITS;
        if !held {
            held = self.named(chunk, state, pack(UNITS, 0));
        }
        let all = held & (got == wanted);
        if !all {
            self.give_part(chunk, got, count);
        }
        all
    }

    /// Gives these units of a chunk back, and a count.
    #[inline(always)]
    fn give_part(self, chunk: u32, units: u32, count: u32) {
        let (words, geometry) = (self.words, self.geometry);
        words.fetch_and(geometry.bits_word(chunk), !units);
        words.fetch_sub(geometry.state_word(chunk), count);
    }

    /// Collective: a block of units somewhere, for one lane.
    #[inline(always)]
    pub(super) fn find_units(self, group: Group, ask: Ask) -> Part {
        let (units, align) = (self.units_of(ask), self.align_units(ask));
        let mut found = self.find_free_units(group, units, align);
        if found.mask == 0 {
            let contended = found.code != 0;
            found = self.find_idle(group, units, align);
            found.code = select(contended, AllocError::Contended.code(), found.code);
        }
        found
    }

    /// Collective: a block of units in chunks of units and in free ones, over their ends too.
    #[inline(always)]
    fn find_free_units(self, group: Group, units: u32, align: u32) -> Part {
        let row = Row::units(units);
        let mut walk = self.walk(group, row);
        let mut found = Part::NONE;
        while (found.mask == 0) & walk.goes_on() {
            let at = walk.done + group.rank();
            let inside = at < self.geometry.chunks;
            let chunk = self.geometry.wrapped(walk.start + select(inside, at, 0));
            let mut place = NO_PLACE;
            if inside {
                place = self.place_in(chunk, units, align, NO_PLACE);
            }
            let fits = group.ballot(place < NO_PLACE);
            if !fits.is_empty() {
                let from = fits.first();
                if arch::lane() == from {
                    found = self.reach_units(chunk, units, align, place);
                }
                group.barrier();
                found.base = group.shuffle(found.base, from);
                found.mask = group.shuffle(found.mask, from);
                walk.doubt(found.mask == 0);
                if (found.mask != 0) & (arch::lane() == from) {
                    self.note(row, chunk, false);
                }
            }
            walk.done += group.count();
        }
        found.code = select(walk.doubts(), AllocError::Contended.code(), 0);
        found
    }

    /// Collective: the same with chunks that have another use, but nothing of which is taken.
    #[inline(always)]
    fn find_idle(self, group: Group, units: u32, align: u32) -> Part {
        let row = Row::units(units);
        let mut walk = self.walk(group, row);
        let spread = group.broadcast(hash(thread::index()));
        let mut found = Part::NONE;
        while (found.mask == 0) & walk.goes_on() {
            let picked = self.step(group, &mut walk, row, spread);
            if picked.chunk != u32::MAX {
                if self.hold(group, picked.chunk, UNITS, units) {
                    found = self.claim_units(group, picked.chunk, units, align);
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
                let at = place_of(free, 0, units, align);
                place = select(at == NO_PLACE, NO_PLACE, LOST);
                tries += 1;
                if at < NO_PLACE {
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
        let span = Span::new(units, place);
        words.fetch_sub(geometry.heads_word(chunk), 1 << place);
        self.give_part(chunk, span.here, span.here.count_ones());
        if span.behind != 0 {
            self.give_part(chunk + 1, span.behind, span.behind.count_ones());
        }
    }
}
