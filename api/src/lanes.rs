//! Sets of lanes of one warp.

use crate::select;

/// A set of lanes of one warp, which may be up to 64 wide.
///
/// Two words rather than one 64-bit integer, which some Vulkan devices do not have; where warps
/// have at most 32 lanes the second word is a constant zero that compilers remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct LaneMask {
    /// Lanes 0 to 31.
    pub lo: u32,
    /// Lanes 32 to 63.
    pub hi: u32,
}

impl LaneMask {
    /// No lanes.
    pub const EMPTY: LaneMask = LaneMask { lo: 0, hi: 0 };

    /// All bits set for a lane of the second word, none for one of the first.
    #[inline(always)]
    const fn in_second(lane: u32) -> u32 {
        (lane >> 5).wrapping_neg()
    }

    /// The set of one lane.
    #[inline(always)]
    pub const fn only(lane: u32) -> Self {
        let (bit, second) = (1 << (lane & 31), Self::in_second(lane));
        LaneMask {
            lo: bit & !second,
            hi: bit & second,
        }
    }

    /// The lanes before `lane`.
    #[inline(always)]
    pub const fn below(lane: u32) -> Self {
        let (bits, second) = ((1 << (lane & 31)) - 1, Self::in_second(lane));
        LaneMask {
            lo: bits | second,
            hi: bits & second,
        }
    }

    /// All lanes of a warp of `width` lanes, 1 to 64.
    #[inline(always)]
    pub const fn full(width: u32) -> Self {
        Self::below(width - 1).or(Self::only(width - 1))
    }

    /// Whether `lane` is in the set.
    #[inline(always)]
    pub const fn contains(self, lane: u32) -> bool {
        let second = Self::in_second(lane);
        let word = self.lo & !second | self.hi & second;
        (word >> (lane & 31)) & 1 != 0
    }

    /// Number of lanes in the set.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.lo.count_ones() + self.hi.count_ones()
    }

    /// Whether the set has no lanes.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.lo | self.hi == 0
    }

    /// The lowest lane of the set; 64 if there is none.
    #[inline(always)]
    pub const fn first(self) -> u32 {
        select(
            self.lo != 0,
            self.lo.trailing_zeros(),
            32 + self.hi.trailing_zeros(),
        )
    }

    /// The highest lane of the set; `u32::MAX` if there is none.
    #[inline(always)]
    pub const fn last(self) -> u32 {
        let low = 31u32.wrapping_sub(self.lo.leading_zeros());
        select(
            self.hi != 0,
            63u32.wrapping_sub(self.hi.leading_zeros()),
            low,
        )
    }

    /// Number of lanes of the set that are before `lane`.
    #[inline(always)]
    pub const fn rank(self, lane: u32) -> u32 {
        self.and(Self::below(lane)).count()
    }

    /// The lanes in both sets.
    #[inline(always)]
    pub const fn and(self, other: Self) -> Self {
        LaneMask {
            lo: self.lo & other.lo,
            hi: self.hi & other.hi,
        }
    }

    /// The lanes in either set.
    #[inline(always)]
    pub const fn or(self, other: Self) -> Self {
        LaneMask {
            lo: self.lo | other.lo,
            hi: self.hi | other.hi,
        }
    }

    /// The lanes of this set that are not in the other.
    #[inline(always)]
    pub const fn without(self, other: Self) -> Self {
        LaneMask {
            lo: self.lo & !other.lo,
            hi: self.hi & !other.hi,
        }
    }

    /// The lanes of the set after `lane`.
    #[inline(always)]
    pub const fn after(self, lane: u32) -> Self {
        self.without(Self::below(lane)).without(Self::only(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_64_bit_integer() {
        let wide = |m: LaneMask| m.lo as u64 | (m.hi as u64) << 32;
        for lane in 0..64 {
            assert_eq!(wide(LaneMask::only(lane)), 1u64 << lane);
            assert_eq!(wide(LaneMask::below(lane)), (1u64 << lane) - 1);
            assert_eq!(LaneMask::full(64).rank(lane), lane);
            assert_eq!(LaneMask::only(lane).first(), lane);
            assert_eq!(wide(LaneMask::full(lane + 1)).trailing_ones(), lane + 1);
            assert_eq!(LaneMask::full(64).after(lane).count(), 63 - lane);
            assert_eq!(LaneMask::full(lane + 1).last(), lane);
        }
        assert_eq!(LaneMask::EMPTY.first(), 64);
        assert_eq!(LaneMask::EMPTY.last(), u32::MAX);
    }
}
