//! Words as sets of bits, and sets of more than a word.

mod veb;

pub use veb::VebTree;

use warpheap_api::{LaneMask, least, select};

/// Position of the set bit number `rank` (counted from the lowest, from 0) of `word`; 32 if the
/// word has no more than `rank` set bits.
#[inline(always)]
pub const fn nth_set(word: u32, rank: u32) -> u32 {
    // Sets of neighbours are the usual case.
    let lowest = word.trailing_zeros();
    let rest = word >> (lowest & 31);
    let mut position = lowest.wrapping_add(rank);
    if rest & rest.wrapping_add(1) != 0 {
        // Halve the range that holds the bit until it has one position.
        position = 0;
        let mut rank = rank;
        let mut width = 16;
        while width != 0 {
            let low = (word >> position) & ((1 << width) - 1);
            let ones = low.count_ones();
            let above = (rank >= ones) as u32;
            rank -= ones * above;
            position += width * above;
            width /= 2;
        }
    }
    select(word.count_ones() <= rank, 32, position)
}

/// How many of `total` things, dealt out one by one to `count` lanes in turn, lane `index` gets.
#[inline(always)]
pub const fn share(total: u32, index: u32, count: u32) -> u32 {
    let behind = total.wrapping_sub(index).wrapping_sub(1);
    let rounds = behind / select(count == 0, 1, count);
    select(index < total, rounds.wrapping_add(1), 0)
}

/// The lowest `count` bits of a word; all of them for 32 and more.
#[inline(always)]
pub const fn low_mask(count: u32) -> u32 {
    select(count >= 32, u32::MAX, (1 << (count & 31)) - 1)
}

/// The `count` lowest set bits of `word`, or all of them if there are fewer, found from bit `start`
/// upwards and around.
#[inline(always)]
pub const fn take_from(word: u32, count: u32, start: u32) -> u32 {
    let turned = word.rotate_right(start & 31);
    // Without a last bit, because there are fewer or none is wanted, the mask has all bits or none.
    let last = nth_set(turned, count.wrapping_sub(1));
    let taken = turned & low_mask(least(last, 31) + 1);
    select(count == 0, 0, taken.rotate_left(start & 31))
}

/// The places of `free` at which so many set bits side by side begin; at most 32.
#[inline(always)]
pub const fn starts_of(free: u32, count: u32) -> u32 {
    let mut starts = free;
    let mut reach = 1;
    // After each step a set bit stands for `reach` of them.
    while reach < count {
        let further = least(reach, count - reach);
        starts &= starts >> further;
        reach += further;
    }
    starts
}

/// The lane of `lanes` with `rank` lanes of the set before it.
#[inline(always)]
pub fn nth_lane(lanes: LaneMask, rank: u32) -> u32 {
    let low = lanes.lo.count_ones();
    let second = rank >= low;
    let place = nth_set(
        select(second, lanes.hi, lanes.lo),
        rank - select(second, low, 0),
    );
    place + select(second, 32, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> impl Iterator<Item = u32> {
        (0..2000u32).map(|i| (crate::sync::hash(i) & crate::sync::hash(i ^ 0xabcd)) | (i % 3))
    }

    #[test]
    fn shares_are_all_there_is() {
        for (total, count) in [(0, 1), (1, 1), (7, 3), (3, 7), (64, 8), (5, u32::MAX)] {
            let mut seen = vec![0; total as usize];
            for index in 0..count.min(100) {
                for i in 0..share(total, index, count) {
                    seen[(index + i * count) as usize] += 1;
                }
            }
            assert_eq!(seen, vec![1; total as usize], "{total} for {count}");
        }
    }

    #[test]
    fn nth_set_finds_each_bit() {
        for word in words().chain([0, 1, u32::MAX, 1 << 31]) {
            let mut rank = 0;
            for bit in 0..32 {
                if word >> bit & 1 == 1 {
                    assert_eq!(nth_set(word, rank), bit, "bit {rank} of {word:#x}");
                    rank += 1;
                }
            }
            assert_eq!(nth_set(word, rank), 32);
        }
    }

    #[test]
    fn runs_are_found() {
        assert_eq!(starts_of(0b0111_0110, 2), 0b0011_0010);
        assert_eq!(starts_of(u32::MAX, 32), 1);
        assert_eq!(starts_of(u32::MAX >> 1, 32), 0);
        for count in 1..=32 {
            for place in 0..=32 - count {
                assert_eq!(starts_of(low_mask(count) << place, count), 1 << place);
            }
        }
    }

    #[test]
    fn lanes_are_counted_through_both_words() {
        let lanes = LaneMask {
            lo: 0b1010,
            hi: 0b110,
        };
        let found: Vec<u32> = (0..4).map(|rank| nth_lane(lanes, rank)).collect();
        assert_eq!(found, [1, 3, 33, 34]);
    }

    #[test]
    fn take_from_takes_that_many_beginning_at_start() {
        for word in words() {
            for count in [0, 1, 3, 8, 31, 32] {
                let taken = take_from(word, count, word % 32);
                assert_eq!(taken & !word, 0);
                assert_eq!(taken.count_ones(), count.min(word.count_ones()));
                if count == 1 && word != 0 {
                    let start = word % 32;
                    let first = (0..32)
                        .map(|i| (start + i) % 32)
                        .find(|b| word >> b & 1 == 1);
                    assert_eq!(Some(taken.trailing_zeros()), first);
                }
            }
        }
    }
}
