//! Numbers as if by chance.

/// Mixes the bits of a number.
#[inline(always)]
pub fn mix(number: u32) -> u32 {
    let mut mixed = number.wrapping_mul(0x9e37_79b1);
    mixed = (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    mixed ^ mixed >> 16
}
