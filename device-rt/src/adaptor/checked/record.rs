//! What lies around a block: a granule in front of it and one behind, its *frame*.
//!
//! | word | in front | behind |
//! |---|---|---|
//! | 0 | state (11 bits), lane that asked (12), alignment (5), high bits of the size (4) | seal of the three behind it |
//! | 1 | size, low word | line of the malloc (20 bits), lane (12) |
//! | 2 | block of lanes that asked | of a freed block: the block of lanes that freed it |
//! | 3 | seal of the three before it | of a freed block: line of the free (20 bits), lane (12) |
//!
//! The words next to the block are seals, which a write that runs on hits first. A seal also depends on where it is, so that
//! copied memory is no frame. The state is changed by compare-and-swap: of two lanes that free a block at the same time one is told.

use crate::arch::{self, Words};
use core::alloc::Layout;
use warpheap_api::{DevicePtr, HeapMemory, layout};

/// A block that was handed out.
pub(crate) const LIVE: u32 = 1;
/// A block that waits in the quarantine.
pub(crate) const FREED: u32 = 2;
/// A block that the inner allocator got back.
pub(crate) const GONE: u32 = 3;

/// What words of a block beyond its size hold, and what those of a freed one do.
pub(crate) const PAD: u32 = 0xCA9A_57ED;
/// What a freed block is filled with.
pub(crate) const DEAD: u32 = 0xDEAD_F4EE;

const STATE_BITS: u32 = 11;
const STATE_SHIFT: u32 = 32 - STATE_BITS;
const ORIGIN: u32 = (1 << STATE_SHIFT) - 1;
const LANE_SHIFT: u32 = 9;
const ALIGN_SHIFT: u32 = 4;
const LANE_BITS: u32 = 12;
const MOST_LANE: u32 = (1 << LANE_BITS) - 1;

/// 32-bit words that cover `bytes`.
#[inline(always)]
pub(crate) const fn whole_words(bytes: usize) -> usize {
    bytes / 4 + (bytes % 4 != 0) as usize
}

/// The words of a block's last granule that are its owner's, 0 to 4.
#[inline(always)]
pub(crate) const fn own_words_of_last(layout: Layout) -> u32 {
    let before = layout::granules(layout).wrapping_sub(1).wrapping_mul(4);
    (whole_words(layout.size()) as u32).wrapping_sub(before)
}

/// Granules in front of a block of this layout: the record lies in the last of them.
#[inline(always)]
pub(crate) const fn front_granules(layout: Layout) -> u32 {
    layout::align_granules(layout)
}

/// The layout of a block and what lies around it.
#[inline(always)]
pub(crate) const fn around(layout: Layout) -> Layout {
    let own = layout::granules(layout);
    let front = front_granules(layout);
    let whole = own.wrapping_add(front).wrapping_add(1);
    // Nobody has such an alignment or such a size: what lies around it is refused, too.
    let possible = (layout.align() <= 0x1_0000) & (own < u32::MAX - 0x2000);
    let granule = DevicePtr::<u8>::GRANULE_BYTES;
    match possible && whole as usize <= layout::ABSURD / granule {
        true => layout::aligned(whole as usize * granule, front as usize * granule),
        false => layout::aligned(layout::ABSURD, granule),
    }
}

/// Where a lane asked for something.
#[derive(Clone, Copy)]
pub(crate) struct Who {
    /// Its block of lanes.
    pub(crate) block: u32,
    /// Its index there, and the line above it.
    pub(crate) at: u32,
}

impl Who {
    /// The calling lane, at a line; 0 if that is not known.
    #[inline(always)]
    pub(crate) fn here(line: u32) -> Self {
        let lane = arch::thread_index();
        let lane = match lane < MOST_LANE {
            true => lane,
            false => MOST_LANE,
        };
        let line = match line >> (32 - LANE_BITS) {
            0 => line,
            _ => 0,
        };
        Who {
            block: arch::block_index(),
            at: Who::at(line, lane),
        }
    }

    #[inline(always)]
    pub(crate) const fn at(line: u32, lane: u32) -> u32 {
        line << LANE_BITS | lane
    }

    #[inline(always)]
    pub(crate) const fn lane_of(at: u32) -> u32 {
        at & MOST_LANE
    }

    #[inline(always)]
    pub(crate) const fn line_of(at: u32) -> u32 {
        at >> LANE_BITS
    }
}

/// Mixes a word into a hash.
#[inline(always)]
const fn mix(hash: u32, word: u32) -> u32 {
    let hash = (hash ^ word).wrapping_mul(0x9E37_79B1);
    hash ^ hash >> 15
}

/// The state in the first word of a record, for a block at this granule.
#[inline(always)]
pub(crate) const fn state_word(granule: u32, epoch: u32, state: u32, origin: u32) -> u32 {
    let hash = mix(mix(0x57A7_E000, granule), epoch) >> STATE_SHIFT;
    (hash & !3 | state) << STATE_SHIFT | origin & ORIGIN
}

/// The state that such a word tells of; 0 for none.
#[inline(always)]
pub(crate) const fn state_of(granule: u32, epoch: u32, word: u32) -> u32 {
    let state = word >> STATE_SHIFT & 3;
    let same = state_word(granule, epoch, state, word) == word;
    state * same as u32
}

/// The seal of the three words behind a block in a state.
#[inline(always)]
const fn back_seal(granule: u32, epoch: u32, state: u32, words: [u32; 3]) -> u32 {
    seal(granule ^ state << STATE_SHIFT, epoch, words)
}

/// The seal of three words.
#[inline(always)]
const fn seal(granule: u32, epoch: u32, words: [u32; 3]) -> u32 {
    let hash = mix(mix(0x5EA1_0000, granule), epoch);
    mix(mix(mix(hash, words[0]), words[1]), words[2])
}

/// The seal in front: the state is not under it, which changes alone.
#[inline(always)]
pub(crate) const fn front_seal(granule: u32, epoch: u32, words: [u32; 3]) -> u32 {
    seal(granule, !epoch, [words[0] & ORIGIN, words[1], words[2]])
}

/// A size and an alignment as two words: the low bits of the size; its high bits and the alignment's exponent.
#[inline(always)]
pub(crate) const fn packed(layout: Layout) -> [u32; 2] {
    // In two steps, since usize has 32 bits on some targets.
    let high = (layout.size() >> 16 >> 16) as u32 & 15;
    let align = (layout.align() as u32).trailing_zeros() & 31;
    [layout.size() as u32, align << ALIGN_SHIFT | high]
}

/// The bits of size and alignment in the first word of a record.
#[inline(always)]
pub(crate) const fn packed_of(word: u32) -> u32 {
    word & ((1 << LANE_SHIFT) - 1)
}

/// The lane in the first word of a record.
#[inline(always)]
pub(crate) const fn lane_of(word: u32) -> u32 {
    word >> LANE_SHIFT & MOST_LANE
}

/// The layout in two words that [`packed`] made.
#[inline(always)]
pub(crate) const fn unpacked(words: [u32; 2]) -> Layout {
    let high = (words[1] & 15) as usize;
    let align = words[1] >> ALIGN_SHIFT & 31;
    let align = match align <= 16 {
        true => 1 << align,
        false => 1,
    };
    layout::aligned(high << 16 << 16 | words[0] as usize, align)
}

/// Of which block the inner allocator gets the memory back.
#[derive(Clone, Copy)]
pub(crate) struct Leaving {
    /// The inner allocator's block; null for none.
    pub(crate) begin: DevicePtr<u8>,
    /// The layout of what lies inside, in two words.
    pub(crate) packed: [u32; 2],
    /// Whether it was counted among those that wait.
    pub(crate) waited: bool,
}

impl Leaving {
    /// Nothing.
    pub(crate) const NONE: Leaving = Leaving {
        begin: DevicePtr::NULL,
        packed: [0; 2],
        waited: false,
    };

    /// The inner allocator's layout.
    #[inline(always)]
    pub(crate) fn layout(self) -> Layout {
        around(unpacked(self.packed))
    }
}

/// The frame of the block at a granule.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) words: Words,
    pub(crate) epoch: u32,
    pub(crate) granule: u32,
}

impl Frame {
    #[inline(always)]
    pub(crate) fn new(words: Words, epoch: u32, granule: u32) -> Self {
        Frame {
            words,
            epoch,
            granule,
        }
    }

    /// The first word of the block.
    #[inline(always)]
    pub(crate) fn first(self) -> usize {
        self.granule as usize * 4
    }

    /// The first word of the record in front.
    #[inline(always)]
    pub(crate) fn front(self) -> usize {
        self.first() - 4
    }

    /// The first word behind a block of this layout.
    #[inline(always)]
    pub(crate) fn behind(self, layout: Layout) -> usize {
        self.first() + layout::granules(layout) as usize * 4
    }

    /// Writes the frame of a block that is handed out.
    #[inline(always)]
    pub(crate) fn live(self, layout: Layout, who: Who) {
        let [low, rest] = packed(layout);
        let origin = Who::lane_of(who.at) << LANE_SHIFT | rest;
        let first = state_word(self.granule, self.epoch, LIVE, origin);
        self.put_front([first, low, who.block]);
        // No loop: lanes stay together.
        let (own, last) = (own_words_of_last(layout), self.behind(layout) - 4);
        if own < 4 {
            self.words.store(last + 3, PAD);
        }
        if own < 3 {
            self.words.store(last + 2, PAD);
        }
        if own < 2 {
            self.words.store(last + 1, PAD);
        }
        if own < 1 {
            self.words.store(last, PAD);
        }
        self.put_behind(layout, LIVE, [who.at, PAD, PAD]);
    }

    /// Writes the words in front of the block, with their seal.
    #[inline(always)]
    fn put_front(self, words: [u32; 3]) {
        let seal = front_seal(self.granule, self.epoch, words);
        let [a, b, c] = words;
        self.words.store4(self.front(), [a, b, c, seal]);
    }

    /// Writes the seal in front of the block, under which these words are. The state, which is not, may change meanwhile.
    #[inline(always)]
    pub(crate) fn seal_front(self, words: [u32; 3]) {
        let seal = front_seal(self.granule, self.epoch, words);
        self.words.store(self.front() + 3, seal);
    }

    /// Writes the words behind the block in a state, with their seal.
    #[inline(always)]
    pub(crate) fn put_behind(self, layout: Layout, state: u32, words: [u32; 3]) {
        let seal = back_seal(self.granule, self.epoch, state, words);
        let [a, b, c] = words;
        self.words.store4(self.behind(layout), [seal, a, b, c]);
    }

    #[inline(always)]
    pub(crate) fn front_is_whole(self, words: [u32; 4]) -> bool {
        Self::whole_front(self.granule, self.epoch, words)
    }

    #[inline(always)]
    pub(crate) fn back_is_whole(self, state: u32, words: [u32; 4]) -> bool {
        Self::whole_back(self.granule, self.epoch, state, words)
    }

    /// Whether the seal in front of a block is right for these words.
    #[inline(always)]
    pub(crate) const fn whole_front(granule: u32, epoch: u32, words: [u32; 4]) -> bool {
        words[3] == front_seal(granule, epoch, [words[0], words[1], words[2]])
    }

    /// Whether the seal behind a block in a state is right for these words.
    #[inline(always)]
    pub(crate) const fn whole_back(granule: u32, epoch: u32, state: u32, words: [u32; 4]) -> bool {
        words[0] == back_seal(granule, epoch, state, [words[1], words[2], words[3]])
    }
}
