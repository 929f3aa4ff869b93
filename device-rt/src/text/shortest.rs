//! The fewest decimal digits that name an `f32`.
//!
//! Steele and White's algorithm (*How to print floating-point numbers accurately*, 1990): exact arithmetic with integers, one
//! digit after the other, until what is left is less than the distance to where the next number's half begins. It needs no
//! tables, and no words of more than 32 bits.

use super::float::Parts;
use warpheap_api::select;

/// Bits of a limb: a limb times ten, and a carry, are a word.
const LIMB: u32 = 28;
const MASK: u32 = (1 << LIMB) - 1;
/// Limbs of the greatest number here. The least `f32` is `1 / 2^149`: its denominator, times 2 for halves, 2 for
/// lopsidedness, and 16 for digits, has 156 bits.
const LIMBS: usize = 6;
/// Digits of an `f32`, at most.
const MOST_DIGITS: u32 = 9;
/// Powers of ten between one and any `f32`.
const MOST_TENS: u32 = 46;

/// The digits, as a number of at most nine, and the power of ten to multiply them by. `number` is not zero.
#[inline(always)]
pub(super) fn shortest(number: Parts) -> (u32, i32) {
    let up = select(number.exponent > 0, number.exponent as u32, 0);
    let down = select(
        number.exponent < 0,
        number.exponent.wrapping_neg() as u32,
        0,
    );
    // All in halves of the distance to the nearest neighbour: value / scale, with as much room on each side.
    let double = 1 + number.lopsided as u32;
    let mut value = Big::shifted(number.mantissa << double, up);
    let mut scale = Big::shifted(1 << double, down);
    let mut below = Big::shifted(1, up);
    let mut above = Big::shifted(double, up);
    // Whoever reads a number in the middle between two takes the even one.
    let even = number.mantissa & 1 == 0;

    // To 0.1 <= value < 1, where it counts how far the digits reach at most.
    let mut exponent = 0;
    let most = value.plus(above);
    let mut tens = 0;
    while (tens < MOST_TENS) & reaches(most, scale, even) {
        scale = scale.times(10);
        exponent += 1;
        tens += 1;
    }
    let mut most = most.times(10);
    while (tens < MOST_TENS) & !reaches(most, scale, even) {
        value = value.times(10);
        below = below.times(10);
        above = above.times(10);
        most = most.times(10);
        exponent -= 1;
        tens += 1;
    }

    let (mut digits, mut count) = (0, 0);
    let (mut down, mut up) = (false, false);
    while (count < MOST_DIGITS) & !(down | up) {
        value = value.times(10);
        below = below.times(10);
        above = above.times(10);
        let (mut digit, mut step) = (0, 8);
        while step != 0 {
            let less = value.minus(scale, step);
            let fits = less.borrow == 0;
            value = Big::choose(fits, less.rest, value);
            digit += select(fits, step, 0);
            step /= 2;
        }
        digits = digits * 10 + digit;
        exponent -= 1;
        count += 1;
        down = reaches(below, value, even);
        up = reaches(value.plus(above), scale, even);
    }
    // Both neighbours are near enough: the nearer one.
    let half = value.times(2).minus(scale, 1).borrow == 0;
    digits += (up & (!down | half)) as u32;
    (digits, exponent)
}

/// Whether `a` is greater than `b`, or as great where that counts.
#[inline(always)]
fn reaches(a: Big, b: Big, or_equal: bool) -> bool {
    let (a_less, b_less) = (a.minus(b, 1).borrow != 0, b.minus(a, 1).borrow != 0);
    b_less | (or_equal & !a_less)
}

/// A number of 168 bits, the lowest limb first.
#[derive(Clone, Copy)]
struct Big {
    limbs: [u32; LIMBS],
}

/// A difference.
struct Difference {
    rest: Big,
    /// 1 if it is less than zero.
    borrow: u32,
}

impl Big {
    /// A number of less than 28 bits, times two to the power of `shift`.
    #[inline(always)]
    fn shifted(number: u32, shift: u32) -> Self {
        let (at, within) = (shift / LIMB, shift % LIMB);
        let low = number << within & MASK;
        let high = number >> (LIMB - within);
        let mut limbs = [0; LIMBS];
        let mut i = 0;
        while i < LIMBS {
            let place = i as u32;
            limbs[i] = select(place == at, low, select(place == at + 1, high, 0));
            i += 1;
        }
        Big { limbs }
    }

    /// Times a number of at most ten.
    #[inline(always)]
    fn times(mut self, factor: u32) -> Self {
        let mut carry = 0;
        let mut i = 0;
        while i < LIMBS {
            let product = self.limbs[i] * factor + carry;
            self.limbs[i] = product & MASK;
            carry = product >> LIMB;
            i += 1;
        }
        self
    }

    #[inline(always)]
    fn plus(mut self, other: Big) -> Self {
        let mut carry = 0;
        let mut i = 0;
        while i < LIMBS {
            let sum = self.limbs[i] + other.limbs[i] + carry;
            self.limbs[i] = sum & MASK;
            carry = sum >> LIMB;
            i += 1;
        }
        self
    }

    /// Less `times` times another number; `times` is at most ten.
    #[inline(always)]
    fn minus(mut self, other: Big, times: u32) -> Difference {
        let (mut carry, mut borrow) = (0, 0);
        let mut i = 0;
        while i < LIMBS {
            let product = other.limbs[i] * times + carry;
            carry = product >> LIMB;
            let rest = self.limbs[i] + (1 << LIMB) - (product & MASK) - borrow;
            self.limbs[i] = rest & MASK;
            borrow = 1 - (rest >> LIMB);
            i += 1;
        }
        Difference {
            rest: self,
            borrow: select(carry == 0, borrow, 1),
        }
    }

    /// One of two numbers.
    #[inline(always)]
    fn choose(first: bool, one: Big, other: Big) -> Self {
        let mut limbs = [0; LIMBS];
        let mut i = 0;
        while i < LIMBS {
            limbs[i] = select(first, one.limbs[i], other.limbs[i]);
            i += 1;
        }
        Big { limbs }
    }
}
