//! RW_malloc (§IV-C): any size up to a region, as *units* side by side.
//!
//! | file | what |
//! |---|---|
//! | `geometry` | where metadata and units lie |
//! | `search` | free units side by side in a part of the map |
//! | `release` | free |
//!
//! The requests of a warp are first asked for as one: those of less than a unit packed into *slots*, the
//! others in units behind them. Where no run of so many is found soon, each lane asks for its own.

pub(crate) mod geometry;
mod release;
mod search;

use super::dice::Dice;
use super::{NONE, fail, steps};
use crate::arch::{self, Words};
use crate::bits::low_mask;
use crate::sync::{Group, PrefixSum, group_sum};
use geometry::Geometry;
use search::{Outcome, Wanted};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, LaneMask, Layout,
    layout, least, select,
};

/// Bytes of the largest region: the greatest size.
pub(crate) const MOST_REGION_BYTES: u32 = 512 << 10;
/// The greatest alignment in granules.
const MOST_ALIGN: u32 = 1 << 12;
/// Random regions in which a warp looks for all that it wants as one.
const TOGETHER: u32 = 4;
/// In a sum of requests, bits of the slots; those of the units are above.
const SLOT_BITS: u32 = 10;

/// RW_malloc of the paper: requests of any size take units side by side, and those of a warp are asked for
/// as one.
#[derive(Clone, Copy)]
pub struct RandomWalkMalloc {
    words: Words,
    geometry: Geometry,
}

/// A request.
#[derive(Clone, Copy)]
struct Ask {
    /// Units; 1 for a small request.
    units: u32,
    /// Slots of a small request.
    slots: u32,
    /// Alignment in units, at least one.
    align: u32,
    /// It is of less than a unit, and any slot is aligned enough.
    small: bool,
    /// Whether this heap could ever serve it.
    possible: bool,
}

/// All requests of a warp as one.
#[derive(Clone, Copy)]
struct Whole {
    /// Slots and units of the lanes before, and of all.
    sum: PrefixSum,
    /// Units that hold the slots of all.
    small: u32,
    /// Units of all.
    units: u32,
}

impl HeapHandle for RandomWalkMalloc {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        RandomWalkMalloc {
            words,
            geometry: Geometry::new(params),
        }
    }
}

impl RandomWalkMalloc {
    #[inline(always)]
    fn ask(self, layout: Layout) -> Ask {
        let geometry = self.geometry;
        let granules = layout::granules(layout);
        let align = layout::align_granules(layout);
        let possible =
            (granules <= geometry.region_units() << geometry.unit_shift()) & (align <= MOST_ALIGN);
        let granules = select(possible, granules, 1);
        let slots = up(granules, geometry.slot_shift());
        let align_units = align >> geometry.unit_shift();
        Ask {
            units: up(granules, geometry.unit_shift()),
            slots: least(slots, 16),
            align: align_units + (align_units == 0) as u32,
            small: (slots < 1 << geometry.slots_log()) & (align <= 1 << geometry.slot_shift()),
            possible,
        }
    }

    /// Collective: sums up what the lanes with `joins` ask for.
    #[inline(always)]
    fn whole(self, group: Group, joins: bool, ask: Ask) -> Whole {
        let mine = select(ask.small, ask.slots, ask.units << SLOT_BITS);
        let sum = group_sum(group, select(joins, mine, 0));
        let slots = sum.total & low_mask(SLOT_BITS);
        let small = up(slots, self.geometry.slots_log());
        Whole {
            sum,
            small,
            units: small + (sum.total >> SLOT_BITS),
        }
    }

    /// The granule of a lane's part of what was claimed for the warp from `unit` on.
    #[inline(always)]
    fn part(self, whole: Whole, ask: Ask, unit: u32) -> u32 {
        let slot = (whole.sum.before & low_mask(SLOT_BITS)) << self.geometry.slot_shift();
        let before = whole.small + (whole.sum.before >> SLOT_BITS);
        let large = before << self.geometry.unit_shift();
        self.geometry.granule_of(unit) + select(ask.small, slot, large)
    }

    /// Collective: sets the marks of the small blocks of a warp, which lie from `unit` on.
    #[inline(always)]
    fn mark_all(self, group: Group, whole: Whole, unit: u32) {
        let slots = whole.sum.total & low_mask(SLOT_BITS);
        let log = self.geometry.slots_log();
        let last = (unit + whole.small + 1) >> 1;
        let mut pair = (unit >> 1) + group.rank();
        while (pair < last) & (slots != 0) {
            let mut marks = 0;
            let mut half = 0;
            while half < 2 {
                let at = (pair << 1) + half;
                let before = at.wrapping_sub(unit) << log;
                let inside = (at >= unit) & (before < slots);
                let here = least(slots.wrapping_sub(before), 1 << log);
                marks |= select(inside, low_mask(here) << (16 * half), 0);
                half += 1;
            }
            self.words.fetch_or(self.geometry.mark_word(pair), marks);
            pair += group.count();
        }
        group.barrier();
    }

    /// Collective: blocks for the lanes that ask for something possible: the granule, or [`NONE`] and the
    /// error's code; and the steps.
    #[inline(always)]
    fn serve(self, group: Group, ask: Ask) -> (u32, u32, u32) {
        let geometry = self.geometry;
        let lane = arch::lane();
        // What must be aligned to more than a unit goes alone.
        let joins = ask.possible & (ask.align == 1);
        let joined = group.ballot(joins);
        let whole = self.whole(group, joins, ask);
        let fits =
            (whole.units != 0) & (whole.units <= least(geometry.region_units(), geometry.units));
        let (mut granule, mut code) = (NONE, AllocError::Unsupported.code());
        // The first step is at a computed place.
        let mut steps = 1;
        if fits {
            let home = geometry.home(whole.units);
            if self.claim_together(group, home, whole.units) {
                self.mark_all(group, whole, home);
                granule = select(joins, self.part(whole, ask, home), NONE);
            }
        }
        let mut pending = group.ballot(ask.possible & (granule == NONE));
        let mut as_one = fits & group.any(joins & (granule == NONE)) & (joined.count() > 1);
        if !pending.is_empty() {
            let mut dice = Dice::of_group(self.words, group);
            while !pending.is_empty() {
                let first = select(as_one, joined.first(), pending.first());
                let units = group.shuffle(ask.units, first);
                let align = group.shuffle(ask.align, first);
                let wanted = Wanted {
                    units: select(as_one, whole.units, units),
                    align: select(as_one, 1, align),
                };
                let same = pending.contains(lane) & (ask.units == units) & (ask.align == align);
                let members = group.ballot(select(as_one, joins as u32, same as u32) != 0);
                let asks = select(as_one, (lane == first) as u32, same as u32) != 0;
                let asking = group.ballot(asks);
                let random = select(as_one, TOGETHER, geometry.walk);
                let rounds = random + select(as_one, 0, 2);
                let (outcome, took) = self.walk(group, asking, wanted, &mut dice, random, rounds);
                steps += select(members.contains(lane), took, 0);
                let unit = group.shuffle(outcome.unit, first);
                if as_one {
                    if unit != NONE {
                        self.mark_all(group, whole, unit);
                        granule = select(joins, self.part(whole, ask, unit), granule);
                        pending = pending.without(joined);
                    }
                    as_one = false;
                } else {
                    let served = same & (outcome.unit != NONE);
                    if served & ask.small {
                        let unit = outcome.unit;
                        let marks = low_mask(ask.slots) << ((unit & 1) * 16);
                        self.words.fetch_or(geometry.mark_word(unit >> 1), marks);
                    }
                    group.barrier();
                    granule = select(served, geometry.granule_of(outcome.unit), granule);
                    let contended = AllocError::Contended.code();
                    let cause = select(outcome.doubt, contended, AllocError::Exhausted.code());
                    code = select(same & !served, cause, code);
                    pending = pending.without(members);
                }
            }
        }
        (granule, code, select(ask.possible, steps, 0))
    }

    /// Collective: looks at `random` regions, then goes through the whole map, until there were `rounds`; and
    /// how many rounds it took.
    #[inline(always)]
    fn walk(
        self,
        group: Group,
        asking: LaneMask,
        wanted: Wanted,
        dice: &mut Dice,
        random: u32,
        rounds: u32,
    ) -> (Outcome, u32) {
        let words = self.geometry.map_words();
        let region = least(self.geometry.region, words);
        let mut outcome = Outcome {
            unit: NONE,
            pending: asking,
            doubt: false,
        };
        let mut round = 0;
        while !outcome.pending.is_empty() & (round < rounds) {
            let all = round >= random;
            let place = dice.below(words - region + 1);
            outcome.doubt = false;
            outcome = self.search(
                group,
                outcome,
                wanted,
                select(all, 0, place),
                select(all, words, region),
            );
            round += 1;
        }
        (outcome, round)
    }
}

/// `value` in parts of two to the power `shift`, rounded up.
#[inline(always)]
const fn up(value: u32, shift: u32) -> u32 {
    (value >> shift) + (value & ((1 << shift) - 1) != 0) as u32
}

// SAFETY: a unit belongs to whoever set its bit, which only succeeds for a clear one; its bit is cleared
// when the last of the blocks in it is freed.
unsafe impl DeviceAlloc for RandomWalkMalloc {
    type Memory = Words;
    const NAME: &'static str = "RandomWalkMalloc";
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_ALIGN * 16,
        max_size: MOST_REGION_BYTES as u64,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let group = Group::here();
        let (granule, code, taken) = self.serve(group, self.ask(layout));
        group.acquire();
        if self.geometry.counts {
            steps::count(self.words, group, taken);
        }
        if granule != NONE {
            Ok(DevicePtr::from_granule(granule))
        } else {
            fail(self.words, layout, AllocError::from_code(code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        let group = Group::here();
        group.release();
        self.free_blocks(group, !ptr.is_null(), self.ask(layout), ptr.granule());
    }

    /// Stays in place where old and new size take the same slots, or the same units.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let was = self.ask(old);
        let is = self.ask(layout::aligned(new_size, old.align()));
        let same_slots = was.small & is.small & (was.slots == is.slots);
        let same_units = !was.small & !is.small & (was.units == is.units);
        if is.possible & (same_slots | same_units) {
            return Ok(ptr);
        }
        // SAFETY: the caller's promise.
        unsafe { self.move_block(ptr, old, new_size) }
    }

    /// Slots, or whole units. A lane that comes alone has a unit for its slots, and does not know.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let ask = self.ask(layout);
        let slots = ask.slots << self.geometry.slot_shift();
        let units = ask.units << self.geometry.unit_shift();
        let granules = select(ask.small, slots, units);
        layout::with_granules(layout, select(ask.possible, granules, 0))
    }
}
