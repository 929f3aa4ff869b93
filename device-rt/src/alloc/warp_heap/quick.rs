//! The way that most requests take: one addition and one `or`, on the way at the same time, and no loop.
//!
//! Lanes are numbered through the launch, and the blocks that a team asks for lie, in the row of their
//! class, where its number says: warps side by side take bits side by side. So warps of a launch do
//! not meet, a fresh heap fills from one end without a gap, and a warp that asks again after it freed
//! finds its bits as it left them. Nothing that all warps share is read or changed.

use super::class::Class;
use super::state::{FREE, count_of, pack, tag_for, tag_of};
use super::{Ask, Part, WarpHeap};
use crate::arch::{self, Group};
use crate::bits::{starts_of, take_from};
use crate::sync::hash;
use crate::thread;
use warpheap_api::{DevicePtr, HeapMemory, least, select};

/// Words of a chunk that a team tries before it looks for another chunk.
const TRIES: u32 = 4;

/// Other chunks that it tries before the warp looks for one together.
const CANDIDATES: u32 = 4;

/// Looks at a chunk that gets its name at this moment: a name takes one trip to the cache.
pub(super) const LOOKS: u32 = 16;

/// As many lanes as the largest devices run at a time.
const LANES_AHEAD: u32 = 1 << 18;

/// Where a team looks first.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Slot of the directory's row.
    pub slot: u32,
    /// Word of bits in the slot's chunk.
    pub word: u32,
    /// First bit in that word.
    pub bit: u32,
    /// Two to this power is the number of places of the team.
    pub log: u32,
}

/// What came of an attempt of a team.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// The chunk, and in the highest bit whether the count was added to a chunk of the right class; else
    /// it was added in vain. In one word, since the quick way has no register for another.
    chunk_held: u32,
    /// The bits that were taken already, in the word of the place.
    pub old: u32,
}

impl Attempt {
    const HELD: u32 = 1 << 31;

    /// Of those who made none.
    pub const NONE: Attempt = Attempt {
        chunk_held: 0,
        old: u32::MAX,
    };

    #[inline(always)]
    fn new(chunk: u32, held: bool, old: u32) -> Self {
        Attempt {
            chunk_held: chunk | select(held, Self::HELD, 0),
            old,
        }
    }

    /// The chunk.
    #[inline(always)]
    pub fn chunk(self) -> u32 {
        self.chunk_held & !Self::HELD
    }

    /// The count was added to a chunk of the right class.
    #[inline(always)]
    pub fn held(self) -> bool {
        self.chunk_held & Self::HELD != 0
    }
}

/// What came of the quick way.
#[derive(Clone, Copy)]
pub(super) struct Quick {
    /// The granule of the lane's block, or the null handle's.
    pub granule: u32,
    /// A leader's attempt …
    pub attempt: Attempt,
    /// … and the bits that it reached for.
    pub wanted: u32,
    /// Whether a lane of the group has no block, the same in all of them.
    pub serves: bool,
}

/// Two to this power are at least `count`.
#[inline(always)]
const fn log_up(count: u32) -> u32 {
    32 - (count - 1).leading_zeros()
}

/// Two to this power is the least number of places of a team, of warps that have as many lanes.
const LEAST_LOG: u32 = 3;

/// Where the `count` places of this warp begin in a line of places of all warps.
#[inline(always)]
pub(super) fn line(count: u32) -> u32 {
    (thread::index() >> arch::warp_width().trailing_zeros()) << log_up(count)
}

impl WarpHeap {
    /// Collective: leaders reach for blocks for their teams.
    #[inline(always)]
    pub(super) fn quick<const FULL: bool>(self, group: Group<FULL>, ask: Ask) -> Quick {
        let (slab, class) = self.class_of(ask);
        let team = self.team(group, slab, class);
        let mut wanted = 0;
        let mut attempt = Attempt::NONE;
        let mut first = DevicePtr::NULL_GRANULE;
        if slab & team.leads() {
            (attempt, wanted, first) = self.attempt(class, team.count());
        }
        group.acquire();
        let first = team.broadcast(first);
        let missing = first == DevicePtr::NULL_GRANULE;
        let granule = first.wrapping_add(team.rank() * class.granules);
        Quick {
            granule: select(missing, first, granule),
            attempt,
            wanted,
            serves: group.any(missing),
        }
    }

    /// The place for the `count` blocks of a team of lanes that are a cell of 2^`cell_shift` lanes, or
    /// some of them.
    #[inline(always)]
    pub(super) fn place(self, class: Class, count: u32) -> Place {
        // In small launches a warp has up to a word of blocks of a class for itself, in large ones less, so
        // that rows do not meet: lanes that allocate again and again find free ones beside those that
        // they have.
        let room = self.geometry.room_log;
        let width = least(arch::warp_width().trailing_zeros(), 5);
        let lanes = least(log_up(thread::count()) + 5 - width, room);
        let log = least(room - lanes, 5);
        let least_log = least(width, LEAST_LOG);
        let log = select(log > least_log, log, least_log);
        let needed = log_up(count);
        let log = least(select(needed > log, needed, log), class.cell_shift);
        self.place_of_cell(class, log)
    }

    /// The place of the lane's cell if each has 2^`log` places.
    #[inline(always)]
    fn place_of_cell(self, class: Class, log: u32) -> Place {
        let (slot, block) = self.slot_of(class, thread::index(), log);
        Place {
            slot,
            word: block >> 5,
            bit: block & 31,
            log,
        }
    }

    /// The slot of a lane's team with 2^`log` places, and the block in the slot's chunk.
    #[inline(always)]
    fn slot_of(self, class: Class, index: u32, log: u32) -> (u32, u32) {
        let cell = index >> least(arch::warp_width().trailing_zeros(), class.cell_shift);
        let place = cell << log;
        (
            self.geometry.slot(place >> class.home_shift, log),
            place & ((1 << class.home_shift) - 1),
        )
    }

    /// The first attempt of a team of `count` lanes: the bits it reached for, what came of it, and the
    /// granule of the team's first block if it got all of them.
    #[inline(always)]
    pub(super) fn attempt(self, class: Class, count: u32) -> (Attempt, u32, u32) {
        let geometry = self.geometry;
        let mut place;
        let chunk;
        if count == 32 {
            // The place is a word of bits, and nobody else's.
            place = self.place_of_cell(class, 5);
            chunk = geometry.home(class.granules, place.slot, 5);
            if place.word == 0 {
                self.open_ahead(class, 5);
            }
        } else {
            // Some of the warp's blocks may be in use: a look is worth its time.
            place = self.place(class, count);
            chunk = geometry.home(class.granules, place.slot, place.log);
            if place.word | place.bit == 0 {
                self.open_ahead(class, place.log);
            }
            let word = geometry.bits_word(chunk) + place.word as usize;
            // Where teams have their places, words have as many blocks as a cell has lanes, or more.
            let blocks = u32::MAX >> (32 - (1 << class.cell_shift));
            let starts = starts_of(!self.words.load(word) & blocks, count);
            let behind = starts >> place.bit << place.bit;
            let start = select(behind == 0, starts, behind).trailing_zeros();
            place.bit = select(starts == 0, place.bit, start & 31);
        }
        let wanted = (u32::MAX >> (32 - count)) << place.bit;
        let attempt = self.reach(class, place.word, chunk, wanted, count);
        let block = geometry.granule_of(chunk) + (place.word * 32 + place.bit) * class.granules;
        let got = attempt.held() & (attempt.old & wanted == 0);
        (attempt, wanted, select(got, block, DevicePtr::NULL_GRANULE))
    }

    /// Names the chunk that lanes will use that run when the calling one is done, if the launch has so
    /// many. They do not wait for the name then, as those do that run together with who names it.
    #[inline(always)]
    fn open_ahead(self, class: Class, log: u32) {
        let index = thread::index() + LANES_AHEAD;
        if index < thread::count() {
            let (slot, _) = self.slot_of(class, index, log);
            let chunk = self.geometry.home(class.granules, slot, log);
            let name = pack(tag_for(class.index), 0);
            let word = self.geometry.state_word(chunk);
            self.words.compare_exchange(word, FREE, name);
        }
    }

    /// Reaches for the `wanted` bits of this word of a chunk.
    #[inline(always)]
    fn reach(self, class: Class, word: u32, chunk: u32, wanted: u32, count: u32) -> Attempt {
        let (words, geometry) = (self.words, self.geometry);
        let name = pack(tag_for(class.index), 0);
        // The bits are claimed before it is known whether they are of this class. If they are not,
        // somebody else finds them taken for a moment. If they are, and the count says so as well,
        // the chunk stays what it is until the count is taken back.
        let old = words.fetch_or(geometry.bits_word(chunk) + word as usize, wanted);
        let state = words.fetch_add(geometry.state_word(chunk), count);
        let mut held = tag_of(state) == tag_of(name);
        if !held {
            held = self.named(chunk, state, name);
        }
        Attempt::new(chunk, held, old)
    }

    /// Whether a chunk is, or now gets, named so, if its state was `state` when the team added to it.
    #[inline(always)]
    fn named(self, chunk: u32, state: u32, name: u32) -> bool {
        let word = self.geometry.state_word(chunk);
        let mut state = state;
        if state == FREE {
            // Nobody had it, and who comes after sees that somebody has: it is this team's to name.
            self.words.fetch_add(word, name);
            state = name;
        }
        // Somebody else, usually for the same class, is about to name it.
        let mut looks = 0;
        while (tag_of(state) == tag_of(FREE)) & (looks < LOOKS) {
            state = self.words.load(word);
            looks += 1;
        }
        tag_of(state) == tag_of(name)
    }

    /// What a team does that did not get all that it reached for: tries a few other words of that chunk,
    /// the chunk that the directory names for its slot, and a few more that a hash of the slot names, the
    /// same for all teams of the slot. Teams of a warp do this side by side.
    #[inline(always)]
    pub(super) fn again(self, class: Class, place: Place, attempt: Attempt, wanted: u32) -> Part {
        let (words, geometry) = (self.words, self.geometry);
        let count = wanted.count_ones();
        let slot_word = geometry.slot_word(class.index, place.slot);
        let home = attempt.chunk();
        let mut attempt = attempt;
        let mut part = Part::NONE;
        let mut candidate = 0;
        if !attempt.held() {
            self.put_back(place, attempt, wanted, count);
        }
        while (part.mask == 0) & (candidate < CANDIDATES) {
            if attempt.held() {
                part = self.take_word(class, place, attempt, wanted, count);
            }
            if part.mask == 0 {
                let seed = hash(home ^ class.index << 24 ^ candidate << 20);
                let mut chunk = seed % geometry.chunks;
                if candidate == 0 {
                    let entry = words.load(slot_word);
                    chunk = select(entry == 0, home, entry.wrapping_sub(1));
                }
                let state = words.load(geometry.state_word(chunk));
                let own = tag_of(state) == tag_for(class.index);
                let room = count_of(state) + count <= class.blocks;
                attempt.chunk_held &= !Attempt::HELD;
                // Free, or about to be named by a team of the same slot.
                if (own & room) | (tag_of(state) == tag_of(FREE)) {
                    attempt = self.reach(class, place.word, chunk, wanted, count);
                    if !attempt.held() {
                        self.put_back(place, attempt, wanted, count);
                    }
                }
            }
            candidate += 1;
        }
        if attempt.held() & (part.mask == 0) {
            part = self.take_word(class, place, attempt, wanted, count);
        }
        if (part.mask != 0) & (candidate > 1) {
            words.store(slot_word, attempt.chunk() + 1);
        }
        part
    }

    /// Takes all blocks that were reached for in the chunk that the team holds, or as many in one of a few
    /// other words of it, or none: then it lets go of the chunk.
    #[inline(always)]
    fn take_word(
        self,
        class: Class,
        place: Place,
        attempt: Attempt,
        wanted: u32,
        count: u32,
    ) -> Part {
        let words = self.words;
        let first = self.geometry.bits_word(attempt.chunk());
        let mut word = place.word;
        let mut taken = attempt.old;
        let mut mask = select(wanted & taken == 0, wanted, 0);
        if (mask == 0) & (wanted & !taken != 0) {
            words.fetch_and(first + word as usize, !(wanted & !taken));
        }
        let mut found = word;
        let mut seed = hash(thread::index() ^ taken);
        let mut tries = 0;
        while (mask == 0) & (tries < TRIES) {
            let free = !taken & class.bits_in(word);
            let enough = free.count_ones() >= count;
            let reach = take_from(free, select(enough, count, 0), seed);
            if reach != 0 {
                let old = words.fetch_or(first + word as usize, reach);
                mask = select(old & reach == 0, reach, 0);
                found = word;
                if mask == 0 {
                    words.fetch_and(first + word as usize, !(reach & !old));
                }
            }
            seed = hash(seed);
            word = ((seed >> 16) * class.words()) >> 16;
            if mask == 0 {
                taken = words.load(first + word as usize);
            }
            tries += 1;
        }
        if mask == 0 {
            words.fetch_sub(self.geometry.state_word(attempt.chunk()), count);
        }
        Part {
            base: self.block_zero(attempt.chunk(), found, class),
            mask,
            stride: class.granules,
            code: 0,
        }
    }

    /// Puts back what an attempt got.
    #[inline(always)]
    fn put_back(self, place: Place, attempt: Attempt, wanted: u32, count: u32) {
        let surplus = wanted & !attempt.old;
        if surplus != 0 {
            let word = self.geometry.bits_word(attempt.chunk()) + place.word as usize;
            self.words.fetch_and(word, !surplus);
        }
        self.words
            .fetch_sub(self.geometry.state_word(attempt.chunk()), count);
    }

    /// The granule of the block of bit 0 of a word of a chunk's bits.
    #[inline(always)]
    pub(super) fn block_zero(self, chunk: u32, word: u32, class: Class) -> u32 {
        self.geometry.granule_of(chunk) + word * 32 * class.granules
    }
}
