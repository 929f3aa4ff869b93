//! Numbers of more than one word, in decimal.

use super::{Cursor, Digits, Sealed, Text};
use warpheap_api::{HeapMemory, least, select};

/// What a part counts up to.
const PART: u32 = 100_000_000;
/// Decimal digits of a part.
const PART_DIGITS: u32 = 8;
/// Parts of the greatest `f32`, which has 39 digits.
const PARTS: usize = 5;
/// A part times two to this power, and a carry, are a word.
const MOST_SHIFT: u32 = 5;

/// A number of up to 40 decimal digits, in parts of eight, the lowest first: so no word of more than 32 bits is needed
/// to take it apart, which some devices have not.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    parts: [u32; PARTS],
    /// Its digits, at least one.
    count: u32,
}

impl Decimal {
    /// A number of one word, times two to the power of `shift`.
    #[inline(always)]
    pub(super) fn shifted(number: u32, shift: u32) -> Self {
        let parts = [number % PART, number / PART, 0, 0, 0];
        Self::counted(shift_left(parts, shift))
    }

    /// A number of two words.
    #[inline(always)]
    pub(super) fn of_words(low: u32, high: u32) -> Self {
        let mut parts = shift_left([high % PART, high / PART, 0, 0, 0], 32);
        let mut carry = 0;
        let mut i = 0;
        while i < PARTS {
            // The low word has two parts; a third would be zero.
            let added = select(i == 0, low % PART, select(i == 1, low / PART, 0));
            let sum = parts[i] + added + carry;
            carry = (sum >= PART) as u32;
            parts[i] = sum - select(carry != 0, PART, 0);
            i += 1;
        }
        Self::counted(parts)
    }

    #[inline(always)]
    fn counted(parts: [u32; PARTS]) -> Self {
        let mut count = 1;
        let mut i = 0;
        while i < PARTS {
            let digits = i as u32 * PART_DIGITS + Digits::new(parts[i]).count();
            count = select(parts[i] != 0, digits, count);
            i += 1;
        }
        Decimal { parts, count }
    }

    /// The number modulo two to the power of 32.
    #[cfg(test)]
    fn word(self) -> u32 {
        let parts = self.parts.iter().rev();
        parts.fold(0, |all, part| all.wrapping_mul(PART).wrapping_add(*part))
    }
}

/// Times two to the power of `shift`. What has more than 40 digits loses the highest.
#[inline(always)]
fn shift_left(mut parts: [u32; PARTS], shift: u32) -> [u32; PARTS] {
    let mut left = shift;
    while left != 0 {
        let step = least(left, MOST_SHIFT);
        let mut carry = 0;
        let mut i = 0;
        while i < PARTS {
            let grown = (parts[i] << step) + carry;
            carry = grown / PART;
            parts[i] = grown % PART;
            i += 1;
        }
        left -= step;
    }
    parts
}

impl Sealed for Decimal {}

impl Text for Decimal {
    #[inline(always)]
    fn bytes(self) -> u32 {
        self.count
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        let (mut part, mut unit) = unit_of(self.count - 1);
        let mut left = self.count;
        while left != 0 {
            let digit = self.parts[part as usize % PARTS] / unit % 10;
            cursor.put(memory, '0' as u32 + digit, 1);
            let last = unit == 1;
            part -= (last & (part != 0)) as u32;
            unit = select(last, PART / 10, unit / 10);
            left -= 1;
        }
    }
}

/// The part that a digit is in, and what it counts there.
#[inline(always)]
fn unit_of(digit: u32) -> (u32, u32) {
    let power = super::digits::power_of_ten(digit % PART_DIGITS);
    (digit / PART_DIGITS, power)
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn modulo_a_word() {
        for (low, high) in [
            (0, 0),
            (7, 0),
            (u32::MAX, u32::MAX),
            (99_999_999, 3),
            (0, 1),
        ] {
            assert_eq!(Decimal::of_words(low, high).word(), low);
        }
        assert_eq!(Decimal::shifted(5, 30).word(), 5 << 30);
    }
}
