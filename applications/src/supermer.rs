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

/// A piece that a lane cuts.
#[derive(Clone, Copy)]
struct Piece {
    /// Where its first k-mer begins.
    begin: u32,
    /// Its k-mers; none if there is no piece.
    kmers: u32,
    part: u32,
}

/// A lane at its stretch of places.
struct Cutter {
    k: u32,
    parts: u32,
    at: u32,
    end: u32,
    /// The least hash in the last k-mer.
    least: u32,
    /// Behind the word that has it; 0 if there was no k-mer at the place before.
    behind: u32,
    /// The piece that was begun.
    open: Piece,
}

impl Cutter {
    /// For the k-mers at `each` places, the lane's of `count` from `first` on.
    #[inline(always)]
    fn new(lane: u32, each: u32, first: u32, count: u32, k: u32, parts: u32) -> Self {
        let begin = lane * each;
        let (begin, end) = (begin.min(count), (begin + each).min(count));
        Cutter {
            k,
            parts,
            at: first + begin,
            end: first + end,
            least: 0,
            behind: 0,
            open: Piece {
                begin: 0,
                kmers: 0,
                part: 0,
            },
        }
    }

    /// The next piece; without a k-mer if there is none.
    #[inline(always)]
    fn next(&mut self, bases: &[u32], breaks: &[u32]) -> Piece {
        let most = MOST_BASES + 1 - self.k;
        // Breaks at the second base and behind it go through the k-mer.
        let inner = (1 << (self.k - 1)) - 1;
        let mut piece = self.open;
        self.open.kmers = 0;
        let mut whole = false;
        while !whole & (self.at < self.end) {
            let at = self.at;
            if word_at(breaks, at + 1, 0) & inner == 0 {
                let part = part_of(self.minimizer(bases), self.parts);
                let new = Piece {
                    begin: at,
                    kmers: 1,
                    part,
                };
                if piece.kmers == 0 {
                    piece = new;
                } else if (piece.part == part) & (piece.kmers < most) {
                    piece.kmers += 1;
                } else {
                    self.open = new;
                    whole = true;
                }
            } else {
                self.behind = 0;
                whole = piece.kmers > 0;
            }
            self.at += 1;
        }
        piece
    }

    /// The least hash of the words in the k-mer at this place.
    #[inline(always)]
    fn minimizer(&mut self, bases: &[u32]) -> u32 {
        let len = minimizer_len(self.k);
        let words = self.k + 1 - len;
        // All words, if the least one of the k-mer before is not in this, otherwise the last.
        let mut word = self.at + words - 1;
        if self.behind <= self.at {
            word = self.at;
            self.least = u32::MAX;
        }
        while word < self.at + words {
            let hash = word_hash(kmer_at(bases, word, len, true).low);
            if hash <= self.least {
                self.least = hash;
                self.behind = word + 1;
            }
            word += 1;
        }
        self.least
    }
}

/// A piece as it travels.
#[inline(always)]
fn packed(bases: &[u32], piece: Piece, k: u32) -> Supermer {
    let end = piece.begin + piece.kmers + k - 1;
    let begin = piece.begin;
    Supermer {
        words: [
            bases_at(bases, begin, end),
            bases_at(bases, begin + 16, end),
            bases_at(bases, begin + 32, end),
            bases_at(bases, begin + 48, end) | piece.kmers << 26,
        ],
    }
}

/// Sixteen bases from base `at` on as a word, those before base `end`.
#[inline(always)]
fn bases_at(bases: &[u32], at: u32, end: u32) -> u32 {
    if at >= end {
        return 0;
    }
    let word = word_at(bases, at % 16 * 2, at / 16);
    let left = end - at;
    if left < 16 {
        word & ((1 << (2 * left)) - 1)
    } else {
        word
    }
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
        let mut cutter = Cutter::new(lane, each, first, count, k, parts);
        let mut open = true;
        while open {
            let piece = cutter.next(bases, breaks);
            open = piece.kmers > 0;
            if open {
                counts[(piece.part * lanes + lane) as usize] += 1;
            }
        }
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
        let mut cutter = Cutter::new(lane, each, first, count, k, parts);
        let mut open = true;
        while open {
            let piece = cutter.next(bases, breaks);
            open = piece.kmers > 0;
            if open {
                let place = (piece.part * lanes + lane) as usize;
                let to = places[place];
                places[place] = to + 1;
                out[to as usize] = packed(bases, piece, k);
            }
        }
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
