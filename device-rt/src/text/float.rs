//! Numbers with a point.

use super::digits::power_of_ten;
use super::padded::Head;
use super::shortest::shortest;
use super::{Cursor, Decimal, Digits, Padded, Sealed, Spec, Text, sum};
use warpheap_api::{HeapMemory, least, select};

/// `f32` with the fewest digits that name it.
pub type Float = Laid<Digits>;
/// `f32` with a given number of digits behind the point.
pub type Fixed = Laid<Decimal>;

/// The digits of an `f32`, laid out; or `NaN`, or `inf`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Laid<I> {
    /// Three letters that stand for all the rest, or 0.
    letters: u32,
    /// What stands before the point, and zeros behind it.
    whole: I,
    whole_zeros: u32,
    /// Whether there is a point and what follows.
    point: bool,
    fraction_zeros: u32,
    fraction: Digits,
}

impl<I> Sealed for Laid<I> {}

impl<I: Text> Text for Laid<I> {
    #[inline(always)]
    fn bytes(self) -> u32 {
        let fraction = select(self.point, 1 + self.fraction.count(), 0);
        let all = sum(self.whole.bytes(), self.whole_zeros) + self.fraction_zeros + fraction;
        select(self.letters != 0, 3, all)
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        if self.letters != 0 {
            cursor.put(memory, self.letters, 3);
        } else {
            self.whole.write(memory, cursor);
            cursor.repeat(memory, '0' as u32, 1, self.whole_zeros);
            if self.point {
                cursor.put(memory, '.' as u32, 1);
                cursor.repeat(memory, '0' as u32, 1, self.fraction_zeros);
                self.fraction.write(memory, cursor);
            }
        }
    }
}

/// `inf` and `NaN`, the first letter lowest.
const INFINITE: u32 = 0x66_6e69;
const NAN: u32 = 0x4e_614e;

/// What an `f32` is made of.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// It is `mantissa` times two to the power of `exponent`.
    pub mantissa: u32,
    pub exponent: i32,
    /// Whether the next smaller number is half as far away as the next greater one.
    pub lopsided: bool,
    negative: bool,
    letters: u32,
}

impl Parts {
    #[inline(always)]
    fn new(number: f32) -> Self {
        let bits = number.to_bits();
        let (biased, fraction) = (bits >> 23 & 0xff, bits & 0x7f_ffff);
        let letters = select(fraction == 0, INFINITE, NAN);
        Parts {
            mantissa: fraction | select(biased == 0, 0, 1 << 23),
            exponent: select(biased == 0, 1, biased) as i32 - 150,
            lopsided: (fraction == 0) & (biased > 1),
            negative: bits >> 31 != 0,
            letters: select(biased == 0xff, letters, 0),
        }
    }

    /// With the sign and in the width that it is to have. `NaN` has no sign.
    #[inline(always)]
    fn padded<I: Text>(self, laid: Laid<I>, spec: Spec) -> Padded<Laid<I>> {
        let nan = self.letters == NAN;
        let plus = spec.plus & !nan;
        let head = Head::sign(self.negative & !nan, Spec { plus, ..spec });
        Padded::number(laid, head, spec)
    }
}

/// The fewest digits that name this number and no other, and of those with so many the ones that are nearest to it; never with
/// an exponent.
#[inline(always)]
pub(super) fn float(number: f32, spec: Spec) -> Padded<Float> {
    let parts = Parts::new(number);
    let (mut digits, mut exponent) = (0, 0);
    if (parts.letters == 0) & (parts.mantissa != 0) {
        (digits, exponent) = shortest(parts);
    }
    let behind = select(exponent < 0, exponent.wrapping_neg() as u32, 0);
    let count = Digits::new(digits).count();
    // Of the digits so many stand behind the point.
    let behind_here = least(behind, count);
    let all_behind = (behind >= count) & (behind != 0);
    // Nine digits are the most, so no power is too great.
    let unit = power_of_ten(select(all_behind, 0, behind_here));
    let laid = Laid {
        letters: parts.letters,
        whole: Digits::new(select(all_behind, 0, digits / unit)),
        whole_zeros: select(exponent > 0, exponent as u32, 0),
        point: behind != 0,
        fraction_zeros: behind - behind_here,
        fraction: Digits::last(digits, behind_here),
    };
    parts.padded(laid, spec)
}

/// `spec.precision` digits behind the point: those of the exact value, rounded to the nearest, and where two are as near to
/// the even one.
#[inline(always)]
pub(super) fn fixed(number: f32, spec: Spec) -> Padded<Fixed> {
    let parts = Parts::new(number);
    let down = select(parts.exponent < 0, parts.exponent.wrapping_neg() as u32, 0);
    let up = select(parts.exponent > 0, parts.exponent as u32, 0);
    let digits = least(spec.precision, 9);
    let unit = power_of_ten(digits);
    // Beyond 23 bits behind the point, all of it is.
    let whole = parts.mantissa >> least(down, 31);
    let rest = parts.mantissa - (whole << least(down, 31));
    let scaled = Wide::product(rest, unit);
    let mut fraction = scaled.shifted_right(down).low;
    let odd = (whole.wrapping_mul(unit).wrapping_add(fraction)) & 1;
    fraction += scaled.rounds_up(down, odd != 0) as u32;
    let carried = fraction == unit;
    let laid = Laid {
        letters: parts.letters,
        whole: Decimal::shifted(whole + carried as u32, up),
        whole_zeros: 0,
        point: digits != 0,
        fraction_zeros: 0,
        fraction: Digits::last(select(carried, 0, fraction), digits),
    };
    parts.padded(laid, spec)
}

/// A number of two words.
#[derive(Clone, Copy)]
struct Wide {
    low: u32,
    high: u32,
}

impl Wide {
    /// A product, of the halves of both.
    #[inline(always)]
    fn product(a: u32, b: u32) -> Self {
        let (a_low, a_high, b_low, b_high) = (a & 0xffff, a >> 16, b & 0xffff, b >> 16);
        let first = a_low * b_low;
        let second = a_high * b_low + (first >> 16);
        let third = a_low * b_high + (second & 0xffff);
        Wide {
            low: third << 16 | first & 0xffff,
            high: a_high * b_high + (second >> 16) + (third >> 16),
        }
    }

    /// Divided by two to the power of `bits`, without what is left.
    #[inline(always)]
    fn shifted_right(self, bits: u32) -> Self {
        let within = bits & 31;
        // In two steps, since a shift by all bits of a word is none.
        let low = self.low >> within | self.high << 1 << (31 - within);
        let high = self.high >> within;
        Wide {
            low: select(bits < 32, low, select(bits < 64, high, 0)),
            high: select(bits < 32, high, 0),
        }
    }

    /// Whether the nearest number to that divided by two to the power of `bits` is the next greater one.
    #[inline(always)]
    fn rounds_up(self, bits: u32, odd: bool) -> bool {
        let doubled = self.shifted_right(bits.wrapping_sub(1));
        let half = doubled.low & 1 != 0;
        let exact = doubled.shifted_left(bits.wrapping_sub(1));
        let more = (exact.low != self.low) | (exact.high != self.high);
        (bits != 0) & (bits <= 64) & half & (more | odd)
    }

    /// Times two to the power of `bits`; 0 from 64 on.
    #[inline(always)]
    fn shifted_left(self, bits: u32) -> Self {
        let within = bits & 31;
        let high = self.high << within | self.low >> 1 >> (31 - within);
        let low = self.low << within;
        Wide {
            low: select(bits < 32, low, 0),
            high: select(bits < 32, high, select(bits < 64, low, 0)),
        }
    }
}
