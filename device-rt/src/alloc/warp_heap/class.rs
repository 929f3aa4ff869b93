//! Size classes: four to a doubling, so that a block is at most a quarter larger than its request.
//!
//! Sizes count granules: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, … Every size is an odd number from
//! 1 to 7 times a power of two, which makes dividing by it a multiplication, and a multiple of every
//! power of two that a request rounded to it is a multiple of, which keeps alignments.

use warpheap_api::{least, select};

/// Bits behind the point in the reciprocals of odd numbers: exact for dividends to 2^14 and products
/// that fit a word.
const POINT: u32 = 17;

/// A size class and what follows from it in chunks of 2^`chunk_shift` granules.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    /// Number of the class, from 0.
    pub index: u32,
    /// Granules of a block: …
    pub granules: u32,
    /// … this number, 1 to 8, …
    steps: u32,
    /// … times two to this power.
    shift: u32,
    /// Two to this power is the granules of a chunk.
    chunk_shift: u32,
    /// Two to this power is the greatest power of two of blocks that a chunk has.
    pub home_shift: u32,
    /// Two to this power is the number of lanes of a cell, which ask as one: a word has bits for them.
    pub cell_shift: u32,
}

impl Class {
    /// The class of a request of `granules`, 1 to 2^(`chunk_shift` − 3).
    #[inline(always)]
    pub const fn of(granules: u32, chunk_shift: u32) -> Self {
        let below = granules.wrapping_sub(1);
        let log_up = 32 - below.leading_zeros();
        // Within a doubling two more bits than the leading one tell the class.
        let shift = select(log_up > 3, log_up, 3) - 3;
        let steps = below >> shift;
        Self::new(4 * shift + steps, shift, steps + 1, log_up, chunk_shift)
    }

    /// The class with this number.
    #[inline(always)]
    pub const fn from_index(index: u32, chunk_shift: u32) -> Self {
        let shift = (index >> 2).wrapping_sub((index > 3) as u32);
        let steps = index - 4 * shift + 1;
        let log_up = 32 - ((steps << shift) - 1).leading_zeros();
        Self::new(index, shift, steps, log_up, chunk_shift)
    }

    #[inline(always)]
    const fn new(index: u32, shift: u32, steps: u32, log_up: u32, chunk_shift: u32) -> Self {
        let home_shift = chunk_shift - log_up;
        Class {
            index,
            granules: steps << shift,
            steps,
            shift,
            chunk_shift,
            home_shift,
            cell_shift: least(5, home_shift),
        }
    }

    /// The trailing zeros of `steps`.
    #[inline(always)]
    const fn zeros(self) -> u32 {
        // Steps go to 8. The other bit keeps compilers from minding a number without any.
        (self.steps | 16).trailing_zeros()
    }

    /// `granules` is this odd number …
    #[inline(always)]
    pub const fn odd(self) -> u32 {
        self.steps >> self.zeros()
    }

    /// … times two to this power.
    #[inline(always)]
    pub const fn exponent(self) -> u32 {
        self.shift + self.zeros()
    }

    /// Blocks of a chunk. Computed where it is needed: a full warp gets its blocks without it.
    #[inline(always)]
    pub const fn blocks(self) -> u32 {
        let shift = self.chunk_shift - self.exponent();
        divide(1 << (shift & 31), self.odd())
    }

    /// Whether blocks, and so their number in a chunk, are a power of two.
    #[inline(always)]
    pub const fn is_power(self) -> bool {
        self.granules & (self.granules - 1) == 0
    }

    /// Words of bits of a chunk.
    #[inline(always)]
    pub const fn words(self) -> u32 {
        (self.blocks() + 31) >> 5
    }

    /// Which bits of word `word` stand for blocks.
    #[inline(always)]
    pub const fn bits_in(self, word: u32) -> u32 {
        crate::bits::low_mask(self.blocks() - least(self.blocks(), word * 32))
    }

    /// Number of the block that begins `offset` granules into a chunk.
    #[inline(always)]
    pub const fn block_at(self, offset: u32) -> u32 {
        divide(offset >> (self.exponent() & 31), self.odd())
    }
}

/// `value / odd` for an odd divisor from 1 to 7 and a value up to 2^14.
#[inline(always)]
const fn divide(value: u32, odd: u32) -> u32 {
    // Two reciprocals a word, found by shifting: a table would be one more trip to memory.
    const THREE: u32 = 43_691;
    const FIVE: u32 = 26_215;
    const SEVEN: u32 = 18_725;
    let pair = select(odd > 3, SEVEN << 16 | FIVE, THREE << 16);
    let reciprocal = (pair >> ((odd & 2) << 3)) & 0xffff;
    select(odd == 1, value, (value * reciprocal) >> POINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_every_size_with_little_waste() {
        for chunk_shift in 8..=14 {
            let most = 1 << (chunk_shift - 3);
            let mut before = Class::of(1, chunk_shift);
            for granules in 1..=most {
                let class = Class::of(granules, chunk_shift);
                assert!(class.granules >= granules);
                assert!(class.granules * 4 <= granules * 5 || granules < 4);
                assert!(class.index == before.index || class.index == before.index + 1);
                assert_eq!(class.odd() << class.exponent(), class.granules);
                assert_eq!(class.blocks(), (1 << chunk_shift) / class.granules);
                assert_eq!(class.home_shift, class.blocks().ilog2());
                let named = Class::from_index(class.index, chunk_shift);
                assert_eq!(named.granules, class.granules);
                for align in [2, 4, 8, 16, 64] {
                    if granules % align == 0 {
                        assert_eq!(class.granules % align, 0, "{granules} at {align}");
                    }
                }
                before = class;
            }
            assert_eq!(before.granules, most);
        }
    }

    #[test]
    fn blocks_are_found_again() {
        for index in 0..40 {
            let class = Class::from_index(index, 14);
            for block in 0..class.blocks() {
                assert_eq!(class.block_at(block * class.granules), block);
            }
            let bits: u32 = (0..class.words())
                .map(|word| class.bits_in(word).count_ones())
                .sum();
            assert_eq!(bits, class.blocks());
        }
    }
}
