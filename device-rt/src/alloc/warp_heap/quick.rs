//! The way that most requests take: one addition and one `or`, on the way at the same time, and no loop.
//!
//! Lanes are numbered through the launch. A *cell*, 32 lanes of a warp or as many as a chunk has blocks for, that asks
//! for blocks of one class as a whole finds them where its number says, in the row of the class: warps side by side
//! take bits side by side. So warps of a launch do not meet, a fresh heap fills from one end without a gap, and a
//! warp that asks again after it freed finds its bits as it left them. Nothing that all warps share is read or changed.
//!
//! Of fewer lanes nobody can tell how many more ask for the class, so they share the chunks that are in use: `look`.

use super::class::Class;
use super::state::{FREE, pack, tag_for, tag_of};
use super::{Ask, Part, WarpHeap};
use crate::arch::{self, Group, where_calls};
use crate::bits::{low_mask, starts_of};
use crate::sync::Team;
use crate::thread;
use warpheap_api::{DevicePtr, HeapMemory, least, select};

/// Looks at a chunk that gets its name at this moment: a name takes one trip to the cache.
const LOOKS: u32 = 16;

/// As many lanes as the largest devices run at a time.
const LANES_AHEAD: u32 = 1 << 18;

/// Cells widen the window at places whose number has these bits: all would meet at its word.
pub(super) const WIDENED: u32 = 15;

/// The least lanes of a cell that, all asking for one class, say that other warps will do the same.
pub(super) const LEAST_CELL: u32 = 4;

/// In the key of a team: its lanes share a word of bits, not a cell.
const CUT: u32 = 1 << 7;

/// Where a lane has its block if its cell has a home.
#[derive(Clone, Copy)]
pub(super) struct Home {
    /// Place in the row of its class.
    pub place: u32,
    /// Word of bits in the chunk at that place.
    pub word: u32,
    /// Bit in that word.
    pub bit: u32,
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

    where_calls! {
        /// It, for [`from_words`](Self::from_words).
        #[inline(always)]
        pub fn to_words(self) -> [u32; 2] {
            [self.chunk_held, self.old]
        }

        /// What [`to_words`](Self::to_words) gave.
        #[inline(always)]
        pub fn from_words([chunk_held, old]: [u32; 2]) -> Self {
            Attempt { chunk_held, old }
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

/// What came of the quick way of a whole warp.
#[derive(Clone, Copy)]
pub(super) struct Quick {
    /// The granule of the lane's block, or the null handle's in all lanes.
    pub granule: u32,
    /// The leader's attempt: at all bits of a word.
    pub attempt: Attempt,
    /// Whether it was tried, the same in all lanes of the group.
    pub tried: bool,
    /// Whether the lanes have no block, the same in all of them.
    pub serves: bool,
}

impl Quick {
    /// Not tried.
    pub const UNTRIED: Quick = Quick {
        granule: DevicePtr::NULL_GRANULE,
        attempt: Attempt::NONE,
        tried: false,
        serves: true,
    };
}

/// Whether so many lanes that ask together are a whole cell, so that they have a home.
#[inline(always)]
pub(super) fn is_cell(class: Class, count: u32) -> bool {
    (count >= LEAST_CELL) & (count == least(arch::warp_width(), 1 << class.cell_shift))
}

impl WarpHeap {
    /// Collective: the leader of a warp reaches for a word of blocks if all lanes ask for one class whose cells have
    /// whole words. What most programs' launches do most of the time, and the only way of malloc that a kernel has in
    /// place of each call, where functions can be called.
    #[inline(always)]
    pub(super) fn quick_whole(self, group: Group<true>, ask: Ask) -> Quick {
        let (slab, class) = self.class_of(ask);
        let whole = slab & class.is_power() & (class.cell_shift == 5) & (arch::warp_width() == 32);
        let key = select(whole, class.index, u32::MAX);
        // Not a match of all lanes' classes, which takes as long as everything else here.
        if !group.all(whole & (key == group.broadcast(key))) {
            return Quick::UNTRIED;
        }
        let mut attempt = Attempt::NONE;
        let mut first = DevicePtr::NULL_GRANULE;
        if group.leads() {
            let (chunk, word) = self.home_word(class);
            attempt = self.reach(class, word, chunk, u32::MAX, 32);
            if attempt.held() & (attempt.old == 0) {
                first = self.block_zero(chunk, word, class);
            }
        }
        group.acquire();
        let first = group.broadcast(first);
        let missing = first == DevicePtr::NULL_GRANULE;
        let granule = first.wrapping_add(arch::lane() * class.granules);
        Quick {
            granule: select(missing, first, granule),
            attempt,
            tried: true,
            serves: missing,
        }
    }

    /// The chunk and the word of its bits that are the home of a cell of 32 lanes, and nobody else's, in a class of
    /// blocks of a power of two.
    #[inline(always)]
    fn home_word(self, class: Class) -> (u32, u32) {
        let (place, word) = Self::whole_home(class);
        if word == 0 {
            self.begins(class, place);
        }
        (self.geometry.home(class.granules, place), word)
    }

    /// The place and the word of the home of a cell of 32 lanes, in a class of blocks of a power of two.
    #[inline(always)]
    pub(super) fn whole_home(class: Class) -> (u32, u32) {
        // What is divided by is a power of two.
        let cell = thread::index() & !31;
        let place = cell >> class.home_shift;
        (place, (cell & ((1 << (class.home_shift & 31)) - 1)) >> 5)
    }

    /// Collective: lanes with the same class ask as one, as far as one word has bits for them; and whether a cell
    /// was cut at the end of a word, of which the team is one part.
    #[inline(always)]
    pub(super) fn team(self, group: Group, slab: bool, class: Class) -> (Team, bool) {
        let cell = arch::lane() >> class.cell_shift;
        let key = select(slab, class.index | cell << 8, u32::MAX);
        let mut team = Team::by_key(group, key);
        let mut cut = false;
        // All lanes the same, so they know that without a vote.
        let alike = team.count() == group.count();
        if !(alike & class.is_power()) {
            // Where chunks do not have a power of two of blocks, cells go over the ends of words and chunks.
            cut = slab & !class.is_power() & is_cell(class, team.count());
            if group.any(cut) {
                let at = self.home_of(class, thread::index());
                let word = (at.place * class.words() + at.word) << 8 | CUT | class.index;
                team = Team::by_key(group, select(cut, word, key));
            }
        }
        (team, cut)
    }

    /// The home of the lane with this number.
    #[inline(always)]
    pub(super) fn home_of(self, class: Class, index: u32) -> Home {
        // There is no chunk without blocks, which no compiler knows.
        let blocks = class.blocks() | (class.blocks() == 0) as u32;
        let place = index / blocks;
        let block = index - place * blocks;
        Home {
            place,
            word: block >> 5,
            bit: block & 31,
        }
    }

    /// The home of a team of `count` lanes that the calling one leads: that of its first lane.
    #[inline(always)]
    pub(super) fn home(self, class: Class, count: u32) -> Home {
        let first = thread::index() + 1 - count;
        // A whole cell's count is a power of two, and its blocks do not go over the end of a word, even where blocks
        // of lanes are not whole warps.
        let whole = first & count.wrapping_neg();
        self.home_of(class, select(class.is_power(), whole, first))
    }

    /// Blocks for a team of `count` lanes, which is a cell or a part of one, at their home.
    #[inline(always)]
    pub(super) fn at_home(self, class: Class, count: u32) -> Part {
        let geometry = self.geometry;
        let (chunk, word, wanted);
        if (count == 32) & class.is_power() {
            (chunk, word) = self.home_word(class);
            wanted = u32::MAX;
        } else {
            // Some of the blocks of the word may be in use: a look is worth its time.
            let home = self.home(class, count);
            chunk = geometry.home(class.granules, home.place);
            word = home.word;
            if word | home.bit == 0 {
                self.begins(class, home.place);
            }
            let taken = self.words.load(geometry.bits_word(chunk) + word as usize);
            let free = !taken & class.bits_in(word);
            let at = low_mask(count) << home.bit;
            let starts = starts_of(free, count);
            let other = low_mask(count) << (starts.trailing_zeros() & 31);
            wanted = select((free & at == at) | (starts == 0), at, other);
        }
        let attempt = self.reach(class, word, chunk, wanted, count);
        let got = attempt.held() & (attempt.old & wanted == 0);
        if !got {
            self.put_back(word, count, attempt, wanted);
        }
        Part {
            base: self.block_zero(chunk, word, class),
            mask: select(got, wanted, 0),
            stride: class.granules,
            code: 0,
        }
    }

    /// Puts back what a team reached for in a word of a chunk and did not get all of.
    #[inline(always)]
    pub(super) fn put_back(self, word: u32, count: u32, attempt: Attempt, wanted: u32) {
        let (words, geometry) = (self.words, self.geometry);
        let chunk = attempt.chunk();
        let surplus = wanted & !attempt.old;
        if surplus != 0 {
            words.fetch_and(geometry.bits_word(chunk) + word as usize, !surplus);
        }
        words.fetch_sub(geometry.state_word(chunk), count);
    }

    /// What a cell does whose home is the first of a chunk. It names the chunk that lanes will use that run when the
    /// calling one is done, if the launch has so many: they do not wait for the name then, as those do that run
    /// together with who names it. And now and then it widens the window, so that others find what is left in
    /// these chunks.
    #[inline(always)]
    fn begins(self, class: Class, place: u32) {
        let geometry = self.geometry;
        let index = thread::index() + LANES_AHEAD;
        if index < thread::count() {
            let ahead = self.home_of(class, index).place;
            let chunk = geometry.home(class.granules, ahead);
            let name = pack(tag_for(class.index), 0);
            let word = geometry.state_word(chunk);
            self.words.compare_exchange(word, FREE, name);
        }
        if place & WIDENED == WIDENED {
            let window = least(place + 1, geometry.places());
            self.words
                .fetch_max(geometry.window_word(class.index), window);
        }
    }

    /// Reaches for the `wanted` bits of this word of a chunk.
    #[inline(always)]
    pub(super) fn reach(
        self,
        class: Class,
        word: u32,
        chunk: u32,
        wanted: u32,
        count: u32,
    ) -> Attempt {
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
    pub(super) fn named(self, chunk: u32, state: u32, name: u32) -> bool {
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

    /// The granule of the block of bit 0 of a word of a chunk's bits.
    #[inline(always)]
    pub(super) fn block_zero(self, chunk: u32, word: u32, class: Class) -> u32 {
        self.geometry.granule_of(chunk) + word * 32 * class.granules
    }
}
