//! What freed blocks that wait hold: lanes that come together look at all their blocks together.

use super::record::DEAD;
use crate::arch::{Group, Words};
use crate::sync::{Deal, Granules};
use warpheap_api::{HeapMemory, least};

/// Up to this many granules a lane looks at by itself.
const ALONE: u32 = 4;

/// Collective: the first word of the calling lane's block that is not what it was filled with, from the block's first one on;
/// `4 * number` if there is none.
#[inline(always)]
pub(super) fn first_changed(words: Words, group: Group, block: Granules) -> u32 {
    let mut changes = 0;
    if block.number <= ALONE {
        changes |= changes_in_share(words, block, 0, 1);
    }
    let large = Deal::large(group, block.number);
    let medium = Deal::medium(group, block.number, ALONE);
    if !(large.is_empty() & medium.is_empty()) {
        // Whoever freed a block handed it to its lane alone, and what others see of it comes before its lane frees it.
        group.barrier();
        changes |= changes_dealt(words, group, block, large);
        changes |= changes_dealt(words, group, block, medium);
        group.barrier();
    }
    let mut word = 4 * block.number;
    // A mistake of the user's: each lane looks for itself where it is.
    if group.any(changes != 0) {
        let end = word;
        word = 0;
        while word < end && words.load(block.word(words, 0) + word as usize) == DEAD {
            word += 1;
        }
    }
    word
}

#[inline(always)]
fn changes_dealt(words: Words, group: Group, block: Granules, mut deal: Deal) -> u32 {
    let mut changes = 0;
    while !deal.is_empty() {
        let dealt = deal.next(group);
        let theirs = block.of(group, dealt.owner);
        if dealt.has_one {
            changes |= changes_in_share(words, theirs, deal.rank(group), deal.size());
        }
        deal = dealt.rest;
    }
    changes
}

/// The bits that are not as they were in every `step`-th granule from `at` on. Eight granules at a time are on their way; behind the
/// last one it is the last one again.
#[inline(always)]
fn changes_in_share(words: Words, block: Granules, mut at: u32, step: u32) -> u32 {
    let mut changes = 0;
    while at < block.number {
        let last = block.number - 1;
        let a = words.load4(block.word(words, at));
        let b = words.load4(block.word(words, least(at + step, last)));
        let c = words.load4(block.word(words, least(at + 2 * step, last)));
        let d = words.load4(block.word(words, least(at + 3 * step, last)));
        at += 4 * step;
        let e = words.load4(block.word(words, least(at, last)));
        let f = words.load4(block.word(words, least(at + step, last)));
        let g = words.load4(block.word(words, least(at + 2 * step, last)));
        let h = words.load4(block.word(words, least(at + 3 * step, last)));
        at += 4 * step;
        changes |= changed_bits(a) | changed_bits(b) | changed_bits(c) | changed_bits(d);
        changes |= changed_bits(e) | changed_bits(f) | changed_bits(g) | changed_bits(h);
    }
    changes
}

#[inline(always)]
fn changed_bits(granule: [u32; 4]) -> u32 {
    (granule[0] ^ DEAD) | (granule[1] ^ DEAD) | (granule[2] ^ DEAD) | (granule[3] ^ DEAD)
}
