//! What requests do that the quick way did not serve: teams at their homes or where lanes look that have none, side by
//! side; then all lanes of the warp for one class (or one larger block) at a time, each at another chunk or word.

use super::class::Class;
use super::quick::{LEAST_CELL, is_cell};
use super::row::{Row, Want};
use super::walk::{Phase, Walk};
use super::{Answer, Ask, Part, WarpHeap};
use crate::arch::{self, Group};
use crate::bits::{nth_lane, nth_set, take_from};
use crate::sync::{Team, hash};
use crate::thread;
use warpheap_api::{AllocError, DevicePtr, HeapMemory, LaneMask, least, select};

/// Looks at chunks of which it cannot be said whether they have room. In the emulator there are few steps between.
const LOOKS: u32 = if arch::ON_DEVICE { 64 } else { 2 };

/// Rounds in which a warp may lose all that it reached for to others before it gives up.
const ROUNDS_LOST: u32 = 16;

impl WarpHeap {
    /// Collective: blocks for teams that have no home, where most of them find some. The granule of the lane's block, or
    /// the null handle's.
    #[inline(always)]
    pub(super) fn serve_near(self, group: Group, ask: Ask) -> u32 {
        let (slab, class) = self.class_of(ask);
        let cell = arch::lane() >> class.cell_shift;
        let team = Team::by_key(group, select(slab, class.index | cell << 8, u32::MAX));
        let count = team.count();
        let looks = slab & !is_cell(class, count);
        let (mut base, mut mask) = (0, 0);
        if group.any(looks) {
            if looks & team.leads() {
                (base, mask) = self.look_near(class, count);
            }
            // Together first: each of those that reach a fence one after the other would pay for it.
            group.barrier();
            group.acquire();
            base = group.shuffle(base, team.leader());
            mask = group.shuffle(mask, team.leader());
        }
        let at = nth_set(mask, team.rank()).wrapping_mul(class.granules);
        select(mask == 0, DevicePtr::NULL_GRANULE, base.wrapping_add(at))
    }

    /// Collective: blocks of slabs for lanes whose `granule` is the null handle's: teams, side by side, at their homes unless
    /// they `tried` that, or where lanes look that have none. The granule of the lane's block, or the null handle's.
    #[inline(always)]
    pub(super) fn serve_teams(self, group: Group, ask: Ask, granule: u32, tried: bool) -> u32 {
        let (slab, class) = self.class_of(ask);
        let slab = slab & (granule == DevicePtr::NULL_GRANULE);
        let (team, cut) = self.team(group, slab, class);
        let count = least(team.count(), 32);
        let leads = slab & team.leads();
        let mut part = Part::NONE;
        if leads & !tried & (cut | is_cell(class, count)) {
            part = self.at_home(class, count);
        }
        if leads & (part.mask == 0) {
            let want = Want::new(count, 1, team.count());
            // Who did not try the quick way looked near.
            part = self.look(Row::new(true, class, count), class, want, !tried);
        }
        group.barrier();
        group.acquire();
        let base = group.shuffle(part.base, team.leader());
        let mask = group.shuffle(part.mask, team.leader());
        let rank = team.rank();
        let served = rank < mask.count_ones();
        let at = nth_set(mask, rank).wrapping_mul(class.granules);
        select(served, base.wrapping_add(at), granule)
    }

    /// Collective: serves the lanes of a group whose `granule` is still the null handle's: those that want more than slabs
    /// have, and those whose teams found nothing.
    #[inline(always)]
    pub(super) fn serve_rest(self, group: Group, ask: Ask, granule: u32) -> Answer {
        let lane = arch::lane();
        let (slab, class) = self.class_of(ask);
        let run = self.is_run(ask);
        let units = !slab & !run & ask.possible;
        let needed = self.units_of(ask);
        let align = self.align_units(ask);
        let mut part = Part::NONE;
        // A whole warp that asks for as many units is taken as a sign that the others of the launch do the same.
        let alike = group.all(units & (needed == group.broadcast(needed)));
        if alike & (group.count() == arch::warp_width()) & (group.count() >= LEAST_CELL) {
            part = self.units_at_home(needed, align);
        }
        let lanes = group.ballot(!slab).count();
        if units & (part.mask == 0) {
            part = self.look_for_units(
                Row::new(false, class, needed),
                Want::new(needed, align, lanes),
            );
        }
        group.barrier();
        let unsupported = AllocError::Unsupported.code();
        let mut answer = Answer {
            granule: select(part.mask != 0, part.base, granule),
            code: select(ask.possible, 0, unsupported),
        };
        let mut waits = (answer.granule == DevicePtr::NULL_GRANULE) & ask.possible;
        let runs = waits & !slab & run;
        if group.any(runs) {
            let runs = group.ballot(runs);
            let mut granule = u32::MAX;
            if waits & !slab & run {
                granule = self.run_at_once(ask, runs.count(), runs.rank(lane));
            }
            let served = granule != u32::MAX;
            answer.granule = select(served, granule, answer.granule);
            waits &= !served;
        }
        let mut pending = group.ballot(waits);
        let mut lost = 0;
        // Every round serves a lane, or fails some, or is one of few in which others were faster.
        while !pending.is_empty() {
            let first = pending.first();
            let granules = group.shuffle(ask.granules, first);
            let align = group.shuffle(ask.align, first);
            let theirs = Ask {
                granules,
                align,
                possible: true,
            };
            let (their_slab, their_class) = self.class_of(theirs);
            let mine = waits
                & ((slab & their_slab & (class.index == their_class.index)) | (lane == first));
            let alike = group.ballot(mine);
            let found = if their_slab {
                self.find_blocks(group, their_class, least(alike.count(), 32))
            } else {
                self.find_large(group, theirs)
            };
            lost += (found.mask == 0) as u32;
            let contended = found.code == AllocError::Contended.code();
            let fails = (found.mask == 0) & (!contended | (lost > ROUNDS_LOST));
            let rank = alike.rank(lane);
            let served = mine & (rank < found.mask.count_ones());
            // A search that found nothing for a lane found nothing for those that ask for the same.
            let same = waits & (ask.granules == granules) & (ask.align == align);
            let failed = (mine | same) & fails;
            let at = nth_set(found.mask, rank).wrapping_mul(found.stride);
            answer.granule = select(served, found.base.wrapping_add(at), answer.granule);
            answer.code = select(failed, found.code, answer.code);
            waits &= !served & !failed;
            pending = group.ballot(waits);
        }
        group.acquire();
        answer
    }

    /// Collective: at least one and up to `wanted` blocks of a class, somewhere.
    #[inline(always)]
    fn find_blocks(self, group: Group, class: Class, wanted: u32) -> Part {
        let row = Row::new(true, class, 1);
        let mut walk = self.walk(group, row);
        walk.begin_near();
        let spread = group.broadcast(hash(thread::index()));
        let mut found = Part::NONE;
        while (found.mask == 0) & self.goes_on(group, row, &mut walk) {
            let picked = self.step(group, &mut walk, row, spread);
            if picked.chunk != u32::MAX {
                if self.hold(group, picked.chunk, row.tag, wanted) {
                    found = self.claim_words(group, class, picked.chunk, spread >> 16, wanted);
                }
                walk.doubt(found.mask == 0);
                if (found.mask != 0) & group.leads() {
                    self.note(row, picked.chunk, picked.opens);
                }
            }
        }
        if found.mask == 0 {
            found.code = walk.code();
        }
        self.end_search(group, row, &mut walk);
        found
    }

    /// Collective: a walk that begins where the last one for the row ended.
    #[inline(always)]
    pub(super) fn walk(self, group: Group, row: Row) -> Walk {
        let mut ended = 0;
        if group.leads() {
            ended = self.words.load(self.geometry.ended_word(row.index));
        }
        group.barrier();
        let ended = group.broadcast(ended);
        let home = self.geometry.home(row.granules, 0);
        let start = select(ended == 0, home, ended.wrapping_sub(1));
        Walk::new(start, self.geometry.chunks)
    }

    /// Collective: looks at the next chunks of a walk, one for each lane, and picks one, the same in all lanes:
    /// one with room, or else a free or an idle one. Which of several depends on `choice`: the same for
    /// those who may share a chunk. `u32::MAX` if none suits; if one does, the next step looks at the
    /// others again.
    #[inline(always)]
    pub(super) fn step(self, group: Group, walk: &mut Walk, row: Row, choice: u32) -> Pick {
        let geometry = self.geometry;
        let at = walk.done + group.rank();
        let inside = (at < walk.length) & !walk.tried.contains(arch::lane());
        let chunk = geometry.wrapped(walk.start + select(inside, at, 0));
        let word = geometry.state_word(chunk);
        let mut suits = self.suits(self.words.load(word), row);
        // Whole warps add to their homes before they look, so that full chunks often count too many for a moment. What
        // would leave doubt is looked at again, as long as there is nothing else.
        let mut looks = select(walk.phase == Phase::Near, LOOKS, 1);
        while (looks < LOOKS)
            & group.any(inside & suits.unsettled)
            & !group.any(inside & (suits.has_room | suits.free | suits.idle))
        {
            // Only they look again: there is always one of many that is not settled.
            if suits.unsettled {
                suits = self.suits(self.words.load(word), row);
            }
            looks += 1;
        }
        let roomy = group.ballot(inside & suits.has_room);
        let free = group.ballot(inside & suits.free);
        let idle = group.ballot(inside & suits.idle);
        walk.doubt(group.any(inside & suits.unsettled));
        let (no_room, no_free) = (roomy.is_empty(), free.is_empty());
        let pick = LaneMask {
            lo: select(no_room, select(no_free, idle.lo, free.lo), roomy.lo),
            hi: select(no_room, select(no_free, idle.hi, free.hi), roomy.hi),
        };
        let none = pick.is_empty();
        let number = choice % (pick.count() + none as u32);
        let from = select(none, group.leader(), nth_lane(pick, number) & 63);
        walk.done += select(none, group.count(), 0);
        let tried = walk.tried.or(LaneMask::only(from));
        walk.tried = LaneMask {
            lo: select(none, 0, tried.lo),
            hi: select(none, 0, tried.hi),
        };
        let chunk = group.shuffle(chunk, from);
        Pick {
            chunk: select(none, u32::MAX, chunk),
            opens: no_room,
        }
    }

    /// Collective: claims up to `held` blocks of a chunk on which the group holds so many, and lets go of the
    /// rest.
    #[inline(always)]
    fn claim_words(self, group: Group, class: Class, chunk: u32, start: u32, held: u32) -> Part {
        let words = self.words;
        let first = self.geometry.bits_word(chunk);
        let (lane, count) = (arch::lane(), class.words());
        let start = start % count;
        // The same in all lanes.
        let spread = group.broadcast(hash(thread::index()));
        let mut done = 0;
        let mut got = 0;
        let mut word = 0;
        while (got == 0) & (done < count) {
            let at = done + group.rank();
            let inside = at < count;
            let at = start + select(inside, at, 0);
            word = at - select(at >= count, count, 0);
            let taken = words.load(first + word as usize);
            let free = select(inside, !taken & class.bits_in(word), 0);
            let enough = group.ballot(free.count_ones() >= held);
            let some = group.ballot(free != 0);
            let (alone, none) = (enough.is_empty(), some.is_empty());
            let pick = LaneMask {
                lo: select(alone, some.lo, enough.lo),
                hi: select(alone, some.hi, enough.hi),
            };
            let number = spread % (pick.count() + none as u32);
            let from = select(none, group.leader(), nth_lane(pick, number) & 63);
            if !none & (lane == from) {
                let wanted = take_from(free, held, spread);
                got = wanted & !words.fetch_or(first + word as usize, wanted);
            }
            group.barrier();
            got = group.shuffle(got, from);
            word = group.shuffle(word, from);
            done += group.count();
        }
        self.let_go(group, chunk, held - got.count_ones());
        Part {
            base: self.block_zero(chunk, word, class),
            mask: got,
            stride: class.granules,
            code: 0,
        }
    }
}

/// What a step picked.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    /// The chunk; `u32::MAX` if there is none.
    pub chunk: u32,
    /// It is not of the row yet.
    pub opens: bool,
}
