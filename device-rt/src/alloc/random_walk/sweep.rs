//! What a warp does for lanes whose walks were too long: it goes through the map in order, together with all other
//! warps that do.
//!
//! A random walk alone never learns that there is nothing. So it is bounded, and then the warp joins the *sweep*. The
//! map is cut into segments, and one counter hands them out, lap after lap. A warp looks through its segment, takes
//! what its lanes want, and *counts* the segment if it leaves no page. A lap whose segments were all counted found
//! nothing for anybody, so it is the answer for every request that began before the lap did, whoever looked. When
//! many requests fail in a full heap, each of them looks at a few segments and not at the whole map.
//!
//! Which pages a lap did not find is up to the order of looks and frees, as it would be with one warp's own look
//! through the map: a page may be freed behind it. What a lane freed before its own request is seen, whoever looks:
//! each claim of a segment releases, and acquires what all claims before it released.

use super::geometry::SWEEP_WORD;
use super::{Found, NONE, PageWalk};
use crate::arch;
use crate::bits::nth_lane;
use crate::sync::Group;
use warpheap_api::{AllocError, HeapMemory, LaneMask, least, select};

/// Segments that were claimed; it wraps. The lap is what is above [`segments_log2`].
///
/// [`segments_log2`]: super::geometry::Geometry::segments_log2
const CLAIMS: usize = SWEEP_WORD;
/// The lap behind the last one that found nothing.
const PASSED: usize = SWEEP_WORD + 8;
/// Not 0 if the heap seemed full when someone last looked: a hint.
const FULL: usize = SWEEP_WORD + 16;
/// Segments of a lap that were counted, a word for each of some laps one after the other.
const COUNTS: usize = SWEEP_WORD + 24;
/// Laps that have counts of their own. A warp that comes back to its segment after as many laps counts for a later
/// one: then a request can fail although a page was free for a moment.
const LAPS: u32 = 16;
/// The count of the lap that is so far ahead is made 0.
const AHEAD: u32 = LAPS / 2;
/// Laps that are told apart by their numbers' difference: more than happen during any request.
const FORGOTTEN: u32 = 1 << 20;
/// Steps of a walk in a heap that seemed full. Before that nobody looks whether it did.
pub(super) const SHORT_WALK: u32 = 16;
/// How often a warp looks again where it saw free pages before it leaves them to others.
const LOOKS: u32 = 64;

impl<const KIND: u32> PageWalk<KIND> {
    /// Steps of a walk that found nothing in its first ones, and whether they are few because the heap seemed full.
    #[inline(always)]
    pub(super) fn longest_walk(self) -> (u32, bool) {
        let full = self.words.load(FULL) != 0;
        let walk = self.geometry.walk;
        (select(full, least(walk, SHORT_WALK), walk), full)
    }

    /// The hint was wrong.
    #[inline(always)]
    pub(super) fn is_not_full(self) {
        self.words.store(FULL, 0);
    }

    /// Collective: pages for the lanes that are `missing` one. For those without one afterwards the second
    /// value is the error's code.
    #[inline(always)]
    pub(super) fn sweep(self, group: Group, missing: LaneMask, found: Found) -> (Found, u32) {
        let words = self.words;
        let log2 = self.geometry.segments_log2();
        let segments = 1 << log2;
        // Alone it takes less than two laps to complete one. More are needed where others, who are not done yet, took
        // segments of each.
        let most = 4 * segments + 8;
        let mut found = found;
        let mut pending = missing;
        let mut needed = 0;
        let mut nothing = false;
        let mut claims = 0;
        while !pending.is_empty() & !nothing & (claims < most) {
            let mut claim = 0;
            group.barrier();
            if group.leads() {
                words.release();
                claim = words.fetch_add(CLAIMS, 1);
                words.acquire();
            }
            group.barrier();
            claim = group.broadcast(claim);
            let (lap, segment) = (claim >> log2, claim & (segments - 1));
            // The first lap all of whose segments are looked at from now on.
            needed = select(claims == 0, lap + (segment != 0) as u32, needed);
            let swept = self.sweep_segment(group, segment, pending, found);
            found = swept.found;
            pending = group.ballot(pending.contains(arch::lane()) & (found.page == NONE));
            let mut passed = needed;
            if group.leads() {
                if swept.some {
                    self.is_not_full();
                }
                passed = self.count_segment(lap, segment, swept.empty);
            }
            group.barrier();
            passed = group.broadcast(passed);
            nothing = (passed.wrapping_sub(needed + 1) << log2) as i32 >= 0;
            claims += 1;
        }
        let contended = AllocError::Contended.code();
        let exhausted = AllocError::Exhausted.code();
        (found, select(nothing, exhausted, contended))
    }

    /// One lane for all: counts a segment of a lap if there is nothing in it; the lap behind the last one that found
    /// nothing.
    #[inline(always)]
    fn count_segment(self, lap: u32, segment: u32, empty: bool) -> u32 {
        let words = self.words;
        let log2 = self.geometry.segments_log2();
        let count = |lap: u32| COUNTS + (lap & (LAPS - 1)) as usize;
        let mut passed = words.load(PASSED);
        if segment == 0 {
            words.store(count(lap + AHEAD), 0);
            // Numbers of laps wrap: one that is long past must not become one that is to come.
            if (lap.wrapping_sub(passed) << log2) as i32 > ((2 * FORGOTTEN) << log2) as i32 {
                words.store(PASSED, lap.wrapping_sub(FORGOTTEN));
            }
        }
        if empty && words.fetch_add(count(lap), 1) + 1 == 1 << log2 {
            passed = lap + 1;
            words.store(PASSED, passed);
            words.store(FULL, 1);
        }
        passed
    }

    /// Collective: pages of a segment of the map for lanes that wait.
    #[inline(always)]
    fn sweep_segment(self, group: Group, segment: u32, waiting: LaneMask, found: Found) -> Swept {
        let geometry = self.geometry;
        let entries = geometry.entries();
        let lane = arch::lane();
        let rank = group.rank();
        let each = (entries >> geometry.segments_log2()) + 1;
        let mut at = least(segment * each, entries);
        let end = least(at + each, entries);
        let mut found = found;
        let mut pending = waiting;
        let mut looks = LOOKS;
        let mut left = false;
        let mut some = false;
        while !pending.is_empty() & (at < end) {
            let entry = at + rank;
            let inside = entry < end;
            let entry = select(inside, entry, at);
            let word = geometry.word(entry);
            let taken = self.words.load(word);
            let free = select(inside, !taken & geometry.bits(), 0);
            let seen = group.ballot(free != 0);
            let tries = (free != 0) & (seen.rank(lane) < pending.count());
            let bit = free.trailing_zeros() & 31;
            let mut page = NONE;
            if tries && self.words.fetch_or(word, 1 << bit) & 1 << bit == 0 {
                page = geometry.page_at(entry, bit);
            }
            group.barrier();
            let givers = group.ballot(page != NONE);
            let place = pending.rank(lane);
            let served = pending.contains(lane) & (place < givers.count());
            let giver = nth_lane(givers, select(served, place, 0)) & 63;
            let page = group.shuffle(page, select(served, giver, lane));
            found.page = select(served, page, found.page);
            found.steps += pending.contains(lane) as u32;
            pending = group.ballot(pending.contains(lane) & (found.page == NONE));
            some |= !givers.is_empty();
            // Who saw something looks there again: pages that others took meanwhile are not there any more.
            looks -= !seen.is_empty() as u32;
            let on = seen.is_empty() | (looks == 0);
            left |= on & !seen.is_empty();
            at += select(on, group.count(), 0);
            looks += select(looks == 0, LOOKS, 0);
        }
        Swept {
            found,
            some,
            empty: (at >= end) & !left,
        }
    }
}

/// What came of a segment.
#[derive(Clone, Copy)]
struct Swept {
    found: Found,
    /// Somebody got a page.
    some: bool,
    /// There is none left.
    empty: bool,
}
