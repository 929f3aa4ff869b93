//! Numbers in hexadecimal, octal and binary.

use super::{Cursor, Sealed, Text};
use warpheap_api::{HeapMemory, select};

/// How the digits of a base look that is a power of two.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// Bits of a digit.
    pub bits: u32,
    /// The digit ten.
    pub ten: u32,
    /// What stands behind the zero of the prefix.
    pub letter: u32,
}

impl Base {
    /// `{:x}`
    pub const LOWER_HEX: Base = Base::new(4, 'a', 'x');
    /// `{:X}`
    pub const UPPER_HEX: Base = Base::new(4, 'A', 'x');
    /// `{:o}`
    pub const OCTAL: Base = Base::new(3, 'a', 'o');
    /// `{:b}`
    pub const BINARY: Base = Base::new(1, 'a', 'b');

    const fn new(bits: u32, ten: char, letter: char) -> Self {
        Base {
            bits,
            ten: ten as u32,
            letter: letter as u32,
        }
    }
}

/// The digits of a number of two words.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    low: u32,
    high: u32,
    base: Base,
    count: u32,
}

impl Bits {
    /// All digits of a number, at least one.
    #[inline(always)]
    pub(super) fn new(low: u32, high: u32, base: Base) -> Self {
        let used = select(
            high == 0,
            32 - low.leading_zeros(),
            64 - high.leading_zeros(),
        );
        let count = used.div_ceil(base.bits);
        Bits {
            low,
            high,
            base,
            count: select(count == 0, 1, count),
        }
    }
}

impl Sealed for Bits {}

impl Text for Bits {
    #[inline(always)]
    fn bytes(self) -> u32 {
        self.count
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        let mut left = self.count;
        while left != 0 {
            left -= 1;
            let shift = left * self.base.bits;
            // A digit of which some bits are in the one word and some in the other, or none.
            let within = self.low >> (shift & 31) | self.high << 1 << (31 - (shift & 31));
            let bits = select(shift < 32, within, self.high >> (shift & 31));
            let digit = bits & ((1 << self.base.bits) - 1);
            let zero = select(digit < 10, '0' as u32, self.base.ten - 10);
            cursor.put(memory, zero + digit, 1);
        }
    }
}
