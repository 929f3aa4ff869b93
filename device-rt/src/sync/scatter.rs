//! Scattering: numbers that differ between lanes that run at the same time.

/// Mixes the bits of `value`; a bijection of 32-bit words.
#[inline(always)]
pub const fn hash(value: u32) -> u32 {
    // Two rounds of multiplying by an odd constant and folding the high bits down.
    let value = (value ^ (value >> 16)).wrapping_mul(0x9e37_79b1);
    let value = (value ^ (value >> 15)).wrapping_mul(0x85eb_ca77);
    value ^ (value >> 16)
}
