//! What the first word of a slot says: whose it is, and what may be done with it.
//!
//! | bits | |
//! |---|---|
//! | 0 to 2 | the state |
//! | 3 to 5 | which of the eight buckets side by side it is, counted from the key's own |
//! | 6 to 31 | the bits of the hash that the bucket's number does not tell |
//!
//! Keys of one word are bijective with their hash, so that tag and bucket are the key, and no slot stores it.

use super::words::{WordSource, hash};
use crate::sync;

/// Nobody's yet. A slot never becomes empty again while lanes use the map.
pub const EMPTY: u32 = 0;
/// A lane writes key and value.
pub const BUSY: u32 = 1;
/// The key is there.
pub const FULL: u32 = 2;
/// The key was removed; if it comes back, then here.
pub const DEAD: u32 = 3;
/// The lane that had it busy was not waited for. It may still write here, so nobody uses the slot again.
pub const BURNED: u32 = 4;
/// The key was removed, and a lane writes the value with which it comes back.
pub const BACK: u32 = 5;

/// The bits of the state.
pub const STATE: u32 = 7;
/// Bits of the number of a bucket by which those differ in which a key may lie: the last ones.
pub const SIDE_BITS: u32 = 3;
/// How many buckets these are. With four, one key in 1,250 finds all of them full when there are two slots for a key, and
/// goes to the trie; with eight, one in 67,000.
pub const SIDES: u32 = 1 << SIDE_BITS;
/// The place of the bits that say in which of them it does.
const SIDE_BIT: u32 = 3;
/// Bits of a tag that are no part of the hash.
pub const OWN_BITS: u32 = SIDE_BIT + SIDE_BITS;

/// The state that a tag says.
#[inline(always)]
pub fn state(tag: u32) -> u32 {
    tag & STATE
}

/// Whether a lane is about to make the slot full.
#[inline(always)]
pub fn is_busy(tag: u32) -> bool {
    (state(tag) == BUSY) | (state(tag) == BACK)
}

/// Whether the slot has a key, there or not.
#[inline(always)]
pub fn has_key(tag: u32) -> bool {
    (state(tag) == FULL) | (state(tag) == DEAD) | (state(tag) == BACK)
}

/// The tag without its state.
#[inline(always)]
pub fn owner(tag: u32) -> u32 {
    tag & !STATE
}

/// Which of the buckets it says.
#[inline(always)]
pub fn side(tag: u32) -> u32 {
    (tag >> SIDE_BIT) & (SIDES - 1)
}

/// The same tag for a slot of another one of the buckets.
#[inline(always)]
pub fn at_side(tag: u32, side: u32) -> u32 {
    tag & !((SIDES - 1) << SIDE_BIT) | side << SIDE_BIT
}

/// The owner that a slot of bucket number `home ^ side` has for this hash, when there are `2^bits` buckets.
#[inline(always)]
pub fn owner_of(hash: u32, bits: u32, side: u32) -> u32 {
    (hash >> bits) << OWN_BITS | side << SIDE_BIT
}

/// The hash of which a tag is in a bucket. In a branch, buckets count on in the group of the root from which it hangs.
#[inline(always)]
pub fn full_hash(tag: u32, bucket: u32, bits: u32) -> u32 {
    (tag >> OWN_BITS) << bits | (bucket ^ side(tag))
}

/// The key of one word whose tag this is in this bucket.
#[inline(always)]
pub fn key_of(tag: u32, bucket: u32, bits: u32) -> u32 {
    // The seed of the first hash is 0.
    !sync::unhash(full_hash(tag, bucket, bits))
}

/// The hash that tags are made of.
#[inline(always)]
pub fn hash_of<K: WordSource>(key: K) -> u32 {
    hash(key, 0)
}
