//! Work on the blocks of all lanes of a group: lanes copy and fill them together.

use super::deal::Deal;
use crate::arch::{Group, Words};
use warpheap_api::{DevicePtr, HeapMemory};

/// Up to this many granules a lane deals with its block by itself, in as many trips: it need not hear what others have.
const ALONE: u32 = 4;

/// A block that moves: the handles' granules, and how much goes, in 16 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) granules: u32,
}

/// Collective: copies the block of each lane; that of a lane with nothing to copy has no granules.
#[inline(always)]
pub(crate) fn copy(words: Words, group: Group, block: Move) {
    if block.granules <= ALONE {
        copy_share(words, block, 0, 1);
    }
    let large = Deal::large(group, block.granules);
    let medium = Deal::medium(group, block.granules, ALONE);
    if large.is_empty() & medium.is_empty() {
        return;
    }
    // What a lane wrote to its block is there for those that read it, and what they write for its owner.
    group.barrier();
    copy_dealt(words, group, block, large);
    copy_dealt(words, group, block, medium);
    group.barrier();
}

#[inline(always)]
fn copy_dealt(words: Words, group: Group, block: Move, mut deal: Deal) {
    while !deal.is_empty() {
        let dealt = deal.next(group);
        let theirs = Move {
            from: group.shuffle(block.from, dealt.owner),
            to: group.shuffle(block.to, dealt.owner),
            granules: group.shuffle(block.granules, dealt.owner),
        };
        if dealt.has_one {
            copy_share(words, theirs, deal.rank(group), deal.size());
        }
        deal = dealt.rest;
    }
}

/// Copies every `step`-th word from `first` on, four at a time on the way.
#[inline(always)]
fn copy_share(words: Words, block: Move, first: u32, step: u32) {
    let from = words.word_of(DevicePtr::<u32>::from_granule(block.from));
    let to = words.word_of(DevicePtr::<u32>::from_granule(block.to));
    let (mut at, step) = (first as usize, step as usize);
    let end = block.granules as usize * 4;
    while at + 3 * step < end {
        let a = words.read(from + at);
        let b = words.read(from + at + step);
        let c = words.read(from + at + 2 * step);
        let d = words.read(from + at + 3 * step);
        words.write(to + at, a);
        words.write(to + at + step, b);
        words.write(to + at + 2 * step, c);
        words.write(to + at + 3 * step, d);
        at += 4 * step;
    }
    while at < end {
        words.write(to + at, words.read(from + at));
        at += step;
    }
}

/// A block: its handle's granule, and how many times 16 bytes; `number` is 0 for a lane that has none.
#[derive(Clone, Copy)]
pub(crate) struct Granules {
    pub(crate) first: u32,
    pub(crate) number: u32,
}

impl Granules {
    /// Those of the lane `owner`.
    #[inline(always)]
    pub(crate) fn of(self, group: Group, owner: u32) -> Self {
        Granules {
            first: group.shuffle(self.first, owner),
            number: group.shuffle(self.number, owner),
        }
    }

    /// The first word of 16 bytes of it.
    #[inline(always)]
    pub(crate) fn word(self, words: Words, index: u32) -> usize {
        words.word_of(DevicePtr::<u32>::from_granule(self.first)) + index as usize * 4
    }
}

/// Collective: writes this word all over the block of each lane; by atomic stores where others may be reading.
#[inline(always)]
pub(crate) fn fill<const ATOMIC: bool>(words: Words, group: Group, block: Granules, value: u32) {
    if block.number <= ALONE {
        fill_share::<ATOMIC>(words, block, value, 0, 1);
    }
    let large = Deal::large(group, block.number);
    let medium = Deal::medium(group, block.number, ALONE);
    if large.is_empty() & medium.is_empty() {
        return;
    }
    // What a lane wrote to its block comes before what others write there, and that before all that the lane does next.
    group.barrier();
    fill_dealt::<ATOMIC>(words, group, block, value, large);
    fill_dealt::<ATOMIC>(words, group, block, value, medium);
    group.barrier();
}

#[inline(always)]
fn fill_dealt<const ATOMIC: bool>(
    words: Words,
    group: Group,
    block: Granules,
    value: u32,
    mut deal: Deal,
) {
    while !deal.is_empty() {
        let dealt = deal.next(group);
        let theirs = block.of(group, dealt.owner);
        if dealt.has_one {
            fill_share::<ATOMIC>(words, theirs, value, deal.rank(group), deal.size());
        }
        deal = dealt.rest;
    }
}

/// Writes to every `step`-th granule from `at` on.
#[inline(always)]
fn fill_share<const ATOMIC: bool>(
    words: Words,
    block: Granules,
    value: u32,
    mut at: u32,
    step: u32,
) {
    while at < block.number {
        match ATOMIC {
            true => words.store4(block.word(words, at), [value; 4]),
            false => words.write4(block.word(words, at), [value; 4]),
        }
        at += step;
    }
}
