//! Which part counts a k-mer, where several processes count a part each.
//!
//! A k-mer belongs to the part that its minimizer names: of the words of [`minimizer_len`] bases in it, each taken as the lesser of itself and
//! its reverse complement, the one with the least hash. Neighbours mostly share it, and a k-mer and its reverse complement have the same.
//!
//! In two steps, [`minimizer_hashes`] and [`minimizer_parts`], in both of which each lane does what all do: a lane that went along
//! the sequence and looked through a k-mer again whenever its least word was left behind would let its warp wait at nearly every step.

use crate::kmer::{reversed, word_at};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// The longest minimizer.
const LONGEST: u32 = 15;

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

/// Writes to `hashes[i]` the hash of the word that begins at base `first + i`. `bases` are as in
/// [`kmer_count`](crate::kmer::kmer_count), and `len` is 1 to 15.
#[kernel(unsafe(slices))]
pub fn minimizer_hashes(bases: &[u32], hashes: &mut [u32], first: u32, len: u32) {
    let i = thread::index();
    if (i as usize) < hashes.len() {
        let at = first + i;
        let bits = 2 * len;
        let mask = (1 << bits) - 1;
        // As it lies there, the first base lowest: its complement is the other strand, the last base lowest.
        let there = word_at(bases, at % 16 * 2, at / 16) & mask;
        let own = reversed(there) >> (32 - bits);
        let other = !there & mask;
        hashes[i as usize] = word_hash(if other < own { other } else { own });
    }
}

/// Writes to `owners[i]` the part of the k-mer that begins at base `first + i`, and 1; or 0 if a break is in it. `hashes` are those of
/// words from base `first` on, of each k-mer `words`, which is [`minimizer_words`].
#[kernel(unsafe(slices))]
pub fn minimizer_parts(
    hashes: &[u32],
    breaks: &[u32],
    owners: &mut [u32],
    first: u32,
    k: u32,
    words: u32,
    parts: u32,
) {
    let i = thread::index();
    if (i as usize) < owners.len() {
        let mut least = u32::MAX;
        let mut word = 0;
        while word < words {
            let hash = hashes[(i + word) as usize];
            least = if hash < least { hash } else { least };
            word += 1;
        }
        // Breaks at the second base and behind it go through the k-mer.
        let inner = (1 << (k - 1)) - 1;
        let broken = word_at(breaks, first + i + 1, 0) & inner != 0;
        owners[i as usize] = if broken { 0 } else { part_of(least, parts) + 1 };
    }
}
