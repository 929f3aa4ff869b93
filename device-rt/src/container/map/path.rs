//! The way of a key from the root: which slot of each node it goes through.

use super::tag::SIDE_BITS;
use super::words::{WordSource, hash};

/// Bits of the hash that a node looks at.
pub const DIGIT_BITS: u32 = 4;
/// Slots of a node.
pub const NODE_SLOTS: u32 = 1 << DIGIT_BITS;
/// Hashes of a key that are used up one after the other. Keys that are equal in all of them, 125 bits or
/// more, are refused.
pub const SEEDS: u32 = 4;
/// More nodes than lie on any way.
pub const MOST_NODES: u32 = SEEDS * (32 / DIGIT_BITS) + 1;

/// Where on its way a key is: the hash in use, and how many bits of it are used up.
#[derive(Clone, Copy)]
pub struct Path {
    hash: u32,
    shift: u32,
    seed: u32,
}

impl Path {
    /// At the root, whose slots take `root_bits` bits.
    #[inline(always)]
    pub fn begin<K: WordSource>(key: K, root_bits: u32) -> Self {
        Path {
            hash: turned(key, 0),
            shift: root_bits,
            seed: 0,
        }
    }

    /// The hash in use.
    #[inline(always)]
    pub fn hash(self) -> u32 {
        self.hash
    }

    /// Whether all hashes are used up: there is no further node on this way.
    #[inline(always)]
    pub fn ended(self) -> bool {
        self.seed >= SEEDS
    }

    /// The same place, with bits of the hash left for a node.
    #[inline(always)]
    pub fn ready<K: WordSource>(self, key: K) -> Self {
        let mut path = self;
        if path.shift + DIGIT_BITS > 32 {
            path.seed += 1;
            path.hash = turned(key, path.seed);
            path.shift = 0;
        }
        path
    }

    /// The slot of the next node, of a path that is [`ready`](Self::ready).
    #[inline(always)]
    pub fn digit(self) -> u32 {
        (self.hash >> self.shift) & (NODE_SLOTS - 1)
    }

    /// The slot that another key has in this next node, to which it goes the same way.
    #[inline(always)]
    pub fn digit_of<K: WordSource>(self, other: K) -> u32 {
        (turned(other, self.seed) >> self.shift) & (NODE_SLOTS - 1)
    }

    /// Behind the next node.
    #[inline(always)]
    pub fn passed(self) -> Self {
        let mut path = self;
        path.shift += DIGIT_BITS;
        path
    }
}

/// The hash of a key, turned: keys that have their slots in common ([`tidy`](super::tidy)) differ in the first bits of the
/// hash, and so lie under the same slot of the trie's root.
#[inline(always)]
fn turned<K: WordSource>(key: K, seed: u32) -> u32 {
    hash(key, seed).rotate_right(SIDE_BITS)
}
