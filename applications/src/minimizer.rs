//! Which part counts a k-mer, where several processes count a part each.
//!
//! A k-mer belongs to the part that its minimizer names: of the words of [`minimizer_len`] bases in it, each taken as the lesser of itself and
//! its reverse complement, the one with the least hash. Neighbours mostly share it, and a k-mer and its reverse complement have the same.

use crate::kmer::{reversed, word_at};
use warpheap_rt::sync::hash;

/// The longest minimizer.
const LONGEST: u32 = 15;

/// Most words of a k-mer that could be its minimizer.
pub const MOST_WORDS: u32 = minimizer_words(crate::kmer::LARGEST_K);

/// Bases of a minimizer of k-mers of `k` bases.
#[inline(always)]
pub const fn minimizer_len(k: u32) -> u32 {
    let half = k.div_ceil(2);
    if half < LONGEST { half } else { LONGEST }
}

/// How many words a k-mer of `k` bases has that could be its minimizer.
#[inline(always)]
pub const fn minimizer_words(k: u32) -> u32 {
    k + 1 - minimizer_len(k)
}

/// The hash by which words are compared: of the lesser of a word and its reverse complement, the last base in the lowest bits.
#[inline(always)]
pub const fn word_hash(word: u32) -> u32 {
    // Not of the word itself: the hash of 0 is 0, and long runs of one base would be the least of all.
    hash(word ^ 0x5bd1_e995)
}

/// Which of so many parts, no more than [`MOST_PARTS`](crate::cut::MOST_PARTS), k-mers with this least hash belong to.
#[inline(always)]
pub const fn part_of(least: u32, parts: u32) -> u32 {
    // Once more, because the least of several hashes is small.
    ((hash(!least) >> 16) * parts) >> 16
}

/// The hash of the word of `len` bases, 1 to 15, that begins at base `at`. `bases` are as in
/// [`kmer_count`](crate::kmer::kmer_count).
#[inline(always)]
pub(crate) fn word_hash_at(bases: &[u32], at: u32, len: u32) -> u32 {
    let bits = 2 * len;
    let mask = (1 << bits) - 1;
    // As it lies there, the first base lowest: its complement is the other strand, the last base lowest.
    let there = word_at(bases, at % 16 * 2, at / 16) & mask;
    let own = reversed(there) >> (32 - bits);
    let other = !there & mask;
    word_hash(if other < own { other } else { own })
}
