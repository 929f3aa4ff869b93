//! Counting k-mers, the substrings of `k` letters, of DNA sequences in a hash map.
//!
//! Sequences lie one after the other, two bits for each base (A, C, G, T are 0 to 3), sixteen to a word, the
//! first one in the lowest bits. A bit for each base says whether it follows a break: the begin of a
//! sequence, or bases that are not known. No k-mer goes across a break.

use warpheap_rt::device::*;

/// The largest `k`: a key is two words, and a k-mer is told from no other by its bits alone.
pub const LARGEST_K: u32 = 31;

/// A k-mer: two bits for each base, the last one in the lowest bits of `low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, HeapData)]
#[repr(C)]
pub struct Kmer {
    /// Bases in front of the last sixteen.
    pub high: u32,
    /// The last sixteen bases.
    pub low: u32,
}

/// Counts k-mers: lane `i` of the first `count` takes the one that begins at base `first + i`, unless a break is in
/// it, and adds 1 to its value in the map. `k` is 1 to [`LARGEST_K`], and `first + count + k` at most the
/// number of bases and 1. With `canonical` other than 0 a k-mer stands for itself and for
/// its reverse complement: what comes first in the alphabet is counted. `bases` and `breaks` have two words
/// more than they need.
///
/// # Errors
/// As `HeapHashMap::add`.
#[kernel(allocators = [all, Traced<WarpHeap>])]
pub fn kmer_count<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<Kmer, u32>,
    bases: &[u32],
    breaks: &[u32],
    first: u32,
    count: u32,
    k: u32,
    canonical: u32,
) -> Result<(), AllocError> {
    let i = thread::index();
    if i < count {
        let at = first + i;
        // Breaks at the second base and behind it go through the k-mer.
        let inner = (1 << (k - 1)) - 1;
        if word_at(breaks, at + 1, 0) & inner == 0 {
            let kmer = kmer_at(bases, at, k, canonical != 0);
            map.add(heap, kmer, 1)?;
        }
    }
    Ok(())
}

/// 32 bits of `words`, from bit `bit` of word `word + bit / 32` on.
#[inline(always)]
pub(crate) fn word_at(words: &[u32], bit: u32, word: u32) -> u32 {
    let at = (bit / 32 + word) as usize;
    let shift = bit % 32;
    let next = words[at + 1];
    // In two steps: a shift by 32 is none.
    words[at] >> shift | next << 1 << (31 - shift)
}

/// The k-mer that begins at base `at`.
#[inline(always)]
fn kmer_at(bases: &[u32], at: u32, k: u32, canonical: bool) -> Kmer {
    // Sixteen bases to a word: the bit of a base may be beyond 32 bits.
    let (word, bit) = (at / 16, at % 16 * 2);
    let low = word_at(bases, bit, word);
    kmer_of(word_at(bases, bit, word + 1), low, k, canonical)
}

/// The k-mer of the first `k` bases of two words, the first one in the lowest bits of `low`.
#[inline(always)]
pub(crate) fn kmer_of(high: u32, low: u32, k: u32, canonical: bool) -> Kmer {
    let (mask_high, mask_low) = masks(k);
    // As they lie there, the first base lowest: its complement is the k-mer of the other strand.
    let (high, low) = (high & mask_high, low & mask_low);
    let other = Kmer {
        high: !high & mask_high,
        low: !low & mask_low,
    };
    let own = shifted(reversed(low), reversed(high), 64 - 2 * k);
    let take_other =
        canonical & ((other.high < own.high) | ((other.high == own.high) & (other.low < own.low)));
    if take_other { other } else { own }
}

/// The words `high` and `low` of `2 * k` bits that are set.
#[inline(always)]
fn masks(k: u32) -> (u32, u32) {
    let all = u32::MAX;
    let (mut high, mut low) = (0, all);
    if k < 16 {
        low = (1 << (2 * k)) - 1;
    } else {
        high = (1 << (2 * k - 32)) - 1;
    }
    (high, low)
}

/// `high` and `low` as one number, shifted to the right by 2 to 62 bits.
#[inline(always)]
fn shifted(high: u32, low: u32, by: u32) -> Kmer {
    if by < 32 {
        Kmer {
            high: high >> by,
            low: low >> by | high << (32 - by),
        }
    } else {
        Kmer {
            high: 0,
            low: high >> (by - 32),
        }
    }
}

/// The sixteen bases of a word in the opposite order.
#[inline(always)]
pub(crate) fn reversed(word: u32) -> u32 {
    let word = (word >> 2) & 0x3333_3333 | (word & 0x3333_3333) << 2;
    let word = (word >> 4) & 0x0f0f_0f0f | (word & 0x0f0f_0f0f) << 4;
    let word = (word >> 8) & 0x00ff_00ff | (word & 0x00ff_00ff) << 8;
    word.rotate_left(16)
}
