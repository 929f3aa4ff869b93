//! What an owner leaves in a granule, and what the next one makes of it.
//!
//! Beside the heap there are two words for each granule. `turns` counts its owners: each adds one while it has the block,
//! with an atomic that gives the newest value whatever the fences are, and so knows which number the owner before had.
//! `records` holds number and lane of the last owner, written and read with plain atomics.
//!
//! A free releases what the owner wrote before and a malloc acquires it: the next owner has to find the record of the
//! owner before. In the block's words it has to find that owner's stamps, except where the allocator itself wrote: it may
//! keep lists in blocks that are free. A word that is one of the last few stamps of this very place, but not the
//! last one, is no allocator's: chance makes one of 2^28 such words.

use litmus_common::numbers::mix;
use warpheap::api::HeapMemory;
use warpheap::device::*;

/// Words of a granule.
pub const WORDS: u32 = 4;
/// An older stamp counts as such up to so many owners before the last.
const AGE: u32 = 16;
/// Bits of a record that are the lane's number.
pub const LANE_BITS: u32 = 20;

/// Bit of what [`receive`] gives: the record is not that of the owner before.
pub const OLD_RECORD: u32 = 1;
/// Bit of what [`receive`] gives: a word holds an older stamp.
pub const OLD_WORD: u32 = 2;
/// Bit of what [`receive`] gives: there was an owner before.
pub const REUSED: u32 = 4;
/// Bit of what [`receive`] gives: it was another lane.
pub const OTHER_LANE: u32 = 8;
/// Bit of what [`receive`] gives: it was a lane of another block.
pub const OTHER_BLOCK: u32 = 16;
/// The number of words that the allocator wrote is shifted by so many bits.
pub const REWRITTEN_SHIFT: u32 = 8;

/// The stamp of an owner for a word of the heap.
#[inline(always)]
pub fn stamp(word: usize, turn: u32) -> u32 {
    mix(word as u32) ^ turn
}

/// The record of an owner.
#[inline(always)]
pub fn record(lane: u32, turn: u32) -> u32 {
    lane | turn << LANE_BITS
}

/// How many owners before the last one this word is of: 0 for the last, more than [`AGE`] for none.
#[inline(always)]
fn age(word: usize, found: u32, turn: u32) -> u32 {
    turn.wrapping_sub(found ^ mix(word as u32))
}

/// What the new owner of a granule finds in it; makes it the owner.
#[inline(always)]
pub fn receive<M: HeapMemory>(
    memory: M,
    turns: &[AtomicWord],
    records: &[AtomicWord],
    granule: u32,
    lane: u32,
) -> u32 {
    let at = granule as usize;
    let first = at * WORDS as usize;
    // As soon after malloc as can be, and before the atomic that takes its time.
    let a = memory.read(first);
    let b = memory.read(first + 1);
    let c = memory.read(first + 2);
    let d = memory.read(first + 3);
    let left = records[at].load();
    let turn = turns[at].fetch_add(1);
    let mut seen = 0;
    if turn != 0 {
        seen = REUSED;
        if left >> LANE_BITS != turn << LANE_BITS >> LANE_BITS {
            seen |= OLD_RECORD;
        }
        let owner = left << (32 - LANE_BITS) >> (32 - LANE_BITS);
        if owner != lane {
            seen |= OTHER_LANE;
        }
        if owner / thread::block_dim() != lane / thread::block_dim() {
            seen |= OTHER_BLOCK;
        }
        seen |= judge(first, a, turn);
        // The counts add up, the bits are the same or not there.
        let second = judge(first + 1, b, turn);
        let third = judge(first + 2, c, turn);
        let fourth = judge(first + 3, d, turn);
        seen |= (second | third | fourth) & OLD_WORD;
        seen += (second >> REWRITTEN_SHIFT << REWRITTEN_SHIFT)
            + (third >> REWRITTEN_SHIFT << REWRITTEN_SHIFT)
            + (fourth >> REWRITTEN_SHIFT << REWRITTEN_SHIFT);
    }
    seen
}

/// What a word tells.
#[inline(always)]
fn judge(word: usize, found: u32, turn: u32) -> u32 {
    let age = age(word, found, turn);
    if age == 0 {
        0
    } else if age <= AGE {
        OLD_WORD
    } else {
        1 << REWRITTEN_SHIFT
    }
}

/// Leaves the owner's stamps and its record in a granule.
#[inline(always)]
pub fn leave<M: HeapMemory>(
    memory: M,
    turns: &[AtomicWord],
    records: &[AtomicWord],
    granule: u32,
    lane: u32,
) {
    let at = granule as usize;
    let first = at * WORDS as usize;
    // The owner's own, which nobody changes while it has the block.
    let turn = turns[at].load();
    memory.write(first, stamp(first, turn));
    memory.write(first + 1, stamp(first + 1, turn));
    memory.write(first + 2, stamp(first + 2, turn));
    memory.write(first + 3, stamp(first + 3, turn));
    records[at].store(record(lane, turn));
}

/// How many words of a granule are not what the owner left. With `far`, not from a near cache, where an old value that
/// lands late would not show.
#[inline(always)]
pub fn lost<M: HeapMemory>(memory: M, turns: &[AtomicWord], granule: u32, far: bool) -> u32 {
    let at = granule as usize;
    let first = at * WORDS as usize;
    let turn = turns[at].load();
    let mut wrong = 0;
    let mut k = 0;
    while k < WORDS {
        let word = first + k as usize;
        let found = if far {
            memory.load(word)
        } else {
            memory.read(word)
        };
        wrong += (found != stamp(word, turn)) as u32;
        k += 1;
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::rt::arch::Words;

    /// Words that a test changes, as atomic ones.
    fn atomics(words: &mut [u32]) -> &[AtomicWord] {
        let (first, len) = (words.as_mut_ptr().cast(), words.len());
        // SAFETY: an atomic word is a transparent `AtomicU32`, and the borrow is exclusive.
        unsafe { core::slice::from_raw_parts(first, len) }
    }

    /// Two owners of granule 1, and what the third finds after `change` to the words.
    fn third_finds(change: impl Fn(&mut [u32], &mut u32)) -> u32 {
        let (mut heap, mut turns, mut records) = ([0; 8], [0; 2], [0; 2]);
        let address = heap.as_mut_ptr() as u64;
        // SAFETY: the words live longer than this handle.
        let memory = unsafe { Words::from_address(address, 8) };
        for lane in [5, 6] {
            let (turns, records) = (atomics(&mut turns), atomics(&mut records));
            receive(memory, turns, records, 1, lane);
            leave(memory, turns, records, 1, lane);
            assert_eq!(lost(memory, turns, 1, lane == 5), 0);
        }
        change(&mut heap, &mut records[1]);
        receive(memory, atomics(&mut turns), atomics(&mut records), 1, 6)
    }

    #[test]
    fn the_last_owner_is_found() {
        assert_eq!(third_finds(|_, _| {}), REUSED);
    }

    #[test]
    fn an_old_stamp_is_told_from_an_allocators_word() {
        let old = third_finds(|heap, _| heap[6] = stamp(6, 1));
        assert_eq!(old, REUSED | OLD_WORD);
        let rewritten = third_finds(|heap, _| heap[4..6].fill(0));
        assert_eq!(rewritten, REUSED | 2 << REWRITTEN_SHIFT);
    }

    #[test]
    fn an_old_record_is_seen() {
        let old = third_finds(|_, left| *left = record(5, 1));
        // Outside a launch a lane is a block.
        assert_eq!(old, REUSED | OLD_RECORD | OTHER_LANE | OTHER_BLOCK);
    }
}
