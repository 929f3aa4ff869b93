//! Numbers of one word, in decimal.

use super::{Cursor, Sealed, Text};
use warpheap_api::HeapMemory;

/// The last `count` decimal digits of a number.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    number: u32,
    count: u32,
    /// What the first of them counts: a power of ten.
    unit: u32,
}

impl Digits {
    /// All digits of a number, at least one.
    #[inline(always)]
    pub(crate) fn new(number: u32) -> Self {
        let (mut count, mut unit) = (1, 1);
        while number / unit >= 10 {
            unit *= 10;
            count += 1;
        }
        Digits {
            number,
            count,
            unit,
        }
    }

    /// The last `count` digits of a number, at most 9, zeros before those that it has.
    #[inline(always)]
    pub(super) fn last(number: u32, count: u32) -> Self {
        Digits {
            number,
            count,
            unit: power_of_ten(count) / 10,
        }
    }

    /// Number of digits.
    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.count
    }
}

impl Sealed for Digits {}

impl Text for Digits {
    #[inline(always)]
    fn bytes(self) -> u32 {
        self.count
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        let mut unit = self.unit;
        while unit != 0 {
            cursor.put(memory, '0' as u32 + self.number / unit % 10, 1);
            unit /= 10;
        }
    }
}

/// A power of ten, up to the ninth.
#[inline(always)]
pub(super) fn power_of_ten(exponent: u32) -> u32 {
    let (mut power, mut done) = (1, 0);
    while done < exponent {
        power *= 10;
        done += 1;
    }
    power
}
