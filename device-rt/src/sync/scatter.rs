//! Scattering: numbers that differ between lanes that run at the same time.

/// Mixes the bits of `value`; a bijection of 32-bit words.
#[inline(always)]
pub const fn hash(value: u32) -> u32 {
    // Two rounds of multiplying by an odd constant and folding the high bits down.
    let value = (value ^ (value >> 16)).wrapping_mul(0x9e37_79b1);
    let value = (value ^ (value >> 15)).wrapping_mul(0x85eb_ca77);
    value ^ (value >> 16)
}

/// What [`hash`] made `value` of.
#[inline(always)]
pub const fn unhash(value: u32) -> u32 {
    // The steps of the other way round: the factors' inverses, and a fold by 15 bits undone in two.
    let value = (value ^ (value >> 16)).wrapping_mul(0xb6c9_2f47);
    let value = value ^ (value >> 15) ^ (value >> 30);
    let value = value.wrapping_mul(0x0e8b_2f51);
    value ^ (value >> 16)
}

#[cfg(test)]
mod tests {
    use super::{hash, unhash};

    #[test]
    fn there_and_back() {
        for value in (0..100_000u32).map(|i| i.wrapping_mul(0x9e37_79b1) ^ i) {
            assert_eq!(unhash(hash(value)), value);
            assert_eq!(hash(unhash(value)), value);
        }
    }
}
