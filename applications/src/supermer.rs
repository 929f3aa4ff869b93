//! Supermers: k-mers cut by the process that counts them, where several count a part each.
//!
//! A k-mer belongs to the part that its minimizer names: of the words of [`minimizer_len`] bases in it, each taken as the lesser of itself and
//! its reverse complement, the one with the least hash. Neighbours mostly share it. So runs of them travel as one piece of
//! sequence, and a k-mer and its reverse complement have the same.
//!
//! Lane `i` cuts a stretch of places, twice: to count the pieces of each part, and to put them where sums of the counts say.

use crate::kmer::{Kmer, kmer_at, kmer_of, word_at};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// A run of k-mers that belong to one part: up to [`MOST_BASES`] bases as in [`kmer`](crate::kmer), and in the upper 6 bits of the last
/// word the number of k-mers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Supermer {
    /// The words, the first base in the lowest bits of the first.
    pub words: [u32; 4],
}

/// Most bases of a piece.
pub const MOST_BASES: u32 = 61;
/// The longest minimizer.
const LONGEST: u32 = 15;

impl Supermer {
    /// How many k-mers it has.
    #[inline(always)]
    pub const fn kmers(self) -> u32 {
        self.words[3] >> 26
    }
}

/// Bases of a minimizer of k-mers of `k` bases.
#[inline(always)]
pub const fn minimizer_len(k: u32) -> u32 {
    let half = k.div_ceil(2);
    if half < LONGEST { half } else { LONGEST }
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

/// What a lane has cut and not yet put anywhere.
#[derive(Clone, Copy)]
struct Piece {
    /// Where its first k-mer begins.
    begin: u32,
    /// Its k-mers; none if there is no piece.
    kmers: u32,
    part: u32,
}

/// Tells of all pieces of the k-mers that begin at places `begin..end`.
#[inline(always)]
fn cut(
    bases: &[u32],
    breaks: &[u32],
    begin: u32,
    end: u32,
    k: u32,
    parts: u32,
    mut found: impl FnMut(Piece),
) {
    let most = MOST_BASES + 1 - k;
    let words = k + 1 - minimizer_len(k);
    // Breaks at the second base and behind it go through the k-mer.
    let inner = (1 << (k - 1)) - 1;
    let mut piece = Piece {
        begin,
        kmers: 0,
        part: 0,
    };
    let mut least = 0;
    // Behind the word with the least hash; before any place, there is none.
    let mut behind = 0;
    let mut at = begin;
    while at < end {
        if word_at(breaks, at + 1, 0) & inner == 0 {
            // All words of a k-mer, if the least one of that before is not in this, otherwise the last.
            let mut word = at + words - 1;
            if behind <= at {
                word = at;
                least = u32::MAX;
            }
            while word < at + words {
                let hash = word_hash(kmer_at(bases, word, minimizer_len(k), true).low);
                if hash <= least {
                    least = hash;
                    behind = word + 1;
                }
                word += 1;
            }
            let part = part_of(least, parts);
            if (piece.kmers > 0) & (piece.part == part) & (piece.kmers < most) {
                piece.kmers += 1;
            } else {
                if piece.kmers > 0 {
                    found(piece);
                }
                piece = Piece {
                    begin: at,
                    kmers: 1,
                    part,
                };
            }
        } else {
            if piece.kmers > 0 {
                found(piece);
            }
            piece.kmers = 0;
            behind = 0;
        }
        at += 1;
    }
    if piece.kmers > 0 {
        found(piece);
    }
}

/// A piece as it travels.
#[inline(always)]
fn packed(bases: &[u32], piece: Piece, k: u32) -> Supermer {
    let len = piece.kmers + k - 1;
    let (word, bit) = (piece.begin / 16, piece.begin % 16 * 2);
    let mut made = Supermer::default();
    let mut number = 0;
    while number * 16 < len {
        let mut bits = word_at(bases, bit, word + number);
        let left = len - number * 16;
        if left < 16 {
            bits &= (1 << (2 * left)) - 1;
        }
        made.words[number as usize] = bits;
        number += 1;
    }
    made.words[3] |= piece.kmers << 26;
    made
}

/// Where a lane's stretch of `each` places begins, of `count` from `first` on.
#[inline(always)]
fn stretch(lane: u32, each: u32, first: u32, count: u32) -> (u32, u32) {
    let begin = lane * each;
    let (begin, end) = (begin.min(count), (begin + each).min(count));
    (first + begin, first + end)
}

/// Counts the pieces of each part of the k-mers at `count` places from `first` on: those of part `p` that lane `i` of `lanes` cuts, of
/// `each` places, in `counts[p * lanes + i]`. `bases`, `breaks` and `k` are as in
/// [`kmer_count`](crate::kmer::kmer_count); `lanes * each` is a word and no less than `count`.
#[kernel(unsafe(slices))]
pub fn supermer_count(
    bases: &[u32],
    breaks: &[u32],
    counts: &mut [u32],
    first: u32,
    count: u32,
    k: u32,
    parts: u32,
    lanes: u32,
    each: u32,
) {
    let lane = thread::index();
    if lane < lanes {
        let (begin, end) = stretch(lane, each, first, count);
        cut(bases, breaks, begin, end, k, parts, |piece| {
            counts[(piece.part * lanes + lane) as usize] += 1;
        });
    }
}

/// Puts the pieces in order by part. `places` has sums of what [`supermer_count`] counted with the same settings; afterwards the
/// place behind the last piece of each.
#[kernel(unsafe(slices))]
pub fn supermer_cut(
    bases: &[u32],
    breaks: &[u32],
    places: &mut [u32],
    out: &mut [Supermer],
    first: u32,
    count: u32,
    k: u32,
    parts: u32,
    lanes: u32,
    each: u32,
) {
    let lane = thread::index();
    if lane < lanes {
        let (begin, end) = stretch(lane, each, first, count);
        cut(bases, breaks, begin, end, k, parts, |piece| {
            let place = (piece.part * lanes + lane) as usize;
            let to = places[place];
            places[place] = to + 1;
            out[to as usize] = packed(bases, piece, k);
        });
    }
}

/// How many k-mers each piece has; and 0 behind the last, so that sums have the number of all there.
#[kernel(unsafe(slices))]
pub fn supermer_sizes(pieces: &[Supermer], sizes: &mut [u32]) {
    let i = thread::index() as usize;
    if i < sizes.len() {
        let mut kmers = 0;
        if i < pieces.len() {
            kmers = pieces[i].kmers();
        }
        sizes[i] = kmers;
    }
}

/// Writes out the k-mers of piece `i` from `kmers[places[i]]` on, as many as there is room for; with `canonical` other than 0 as
/// [`kmer_count`](crate::kmer::kmer_count) counts them.
#[kernel(unsafe(slices))]
pub fn supermer_expand(
    pieces: &[Supermer],
    places: &[u32],
    kmers: &mut [Kmer],
    k: u32,
    canonical: u32,
) {
    let i = thread::index() as usize;
    if i < pieces.len() {
        let piece = pieces[i];
        let mut to = places[i] as usize;
        let mut end = to + piece.kmers() as usize;
        if end > kmers.len() {
            end = kmers.len();
        }
        let [mut a, mut b, mut c, mut d] = piece.words;
        d &= (1 << 26) - 1;
        while to < end {
            kmers[to] = kmer_of(b, a, k, canonical != 0);
            a = a >> 2 | b << 30;
            b = b >> 2 | c << 30;
            c = c >> 2 | d << 30;
            d >>= 2;
            to += 1;
        }
    }
}

/// Adds 1 to the value of each of these k-mers in the map.
///
/// # Errors
/// As `HeapHashMap::add`.
#[kernel(allocators = [all, Traced<WarpHeap>])]
pub fn kmer_add<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<Kmer, u32>,
    kmers: &[Kmer],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < kmers.len() {
        map.add(heap, kmers[i], 1)?;
    }
    Ok(())
}
