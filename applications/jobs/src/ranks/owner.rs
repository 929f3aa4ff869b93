//! Which rank something belongs to.

/// The rank of a hash, of so many: a hash that is larger never names a lower rank.
pub fn of_hash(hash: u64, ranks: usize) -> usize {
    ((u128::from(hash) * ranks as u128) >> 64) as usize
}

/// A hash that no two words share: SplitMix64's finaliser.
pub fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
