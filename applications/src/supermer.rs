//! Supermers: runs of k-mers that belong to one part, cut by the process that counts them.
//!
//! Which part a k-mer belongs to is that of its [minimizer](crate::minimizer), which neighbours mostly share. So they travel as one piece
//! of sequence.
//!
//! Lane `i` cuts a stretch of places, twice: to count the pieces of each part, and to put them where sums of the counts say.

use crate::kmer::word_at;
use warpheap_rt::device::*;

pub mod add;

/// A run of k-mers that belong to one part: up to [`MOST_BASES`] bases as in [`kmer`](crate::kmer), and in the upper 6 bits of the last
/// word the number of k-mers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Supermer {
    /// The words, the first base in the lowest bits of the first.
    pub words: [u32; 4],
}

/// Most bases of a piece.
pub const MOST_BASES: u32 = 61;

impl Supermer {
    /// One without a k-mer.
    pub const NONE: Self = Supermer { words: [0; 4] };

    /// How many k-mers it has.
    #[inline(always)]
    pub const fn kmers(self) -> u32 {
        self.words[3] >> 26
    }
}

/// A piece that a lane cuts.
#[derive(Clone, Copy)]
struct Piece {
    /// The place of its first k-mer.
    begin: u32,
    /// Its k-mers; none if there is no piece.
    kmers: u32,
    part: u32,
}

/// A lane at its stretch of places.
struct Cutter {
    /// Most k-mers of a piece.
    most: u32,
    at: u32,
    end: u32,
}

impl Cutter {
    /// For the k-mers at `each` places, the lane's of `count`.
    #[inline(always)]
    fn new(lane: u32, each: u32, count: u32, k: u32) -> Self {
        let begin = lane * each;
        Cutter {
            most: MOST_BASES + 1 - k,
            at: begin.min(count),
            end: (begin + each).min(count),
        }
    }

    /// The next piece, of k-mers that have this part and 1 at their places; without a k-mer if there is none.
    #[inline(always)]
    fn next(&mut self, owners: &[u32]) -> Piece {
        let (mut owner, mut kmers) = (0, 0);
        let mut whole = false;
        while !whole & (self.at < self.end) {
            let here = owners[self.at as usize];
            if kmers == 0 {
                owner = here;
            }
            // What goes on, or has not begun: at a place without a k-mer nothing does.
            whole = (here != owner) | (kmers == self.most);
            if !whole {
                kmers += (here != 0) as u32;
                self.at += 1;
            }
        }
        Piece {
            begin: self.at - kmers,
            kmers,
            part: owner.wrapping_sub(1),
        }
    }
}

/// A piece as it travels.
#[inline(always)]
fn packed(bases: &[u32], piece: Piece, first: u32, k: u32) -> Supermer {
    let begin = first + piece.begin;
    let end = begin + piece.kmers + k - 1;
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

/// Counts the pieces of each part of the k-mers at places whose owners are given, as
/// [`minimizer_parts`](crate::minimizer::minimizer_parts) says them: those of part `p` that lane `i` of `lanes` cuts, of `each` places, in
/// `counts[p * lanes + i]`. `lanes * each` is a word and no less than the number of places.
#[kernel(unsafe(slices))]
pub fn supermer_count(owners: &[u32], counts: &mut [u32], k: u32, lanes: u32, each: u32) {
    let lane = thread::index();
    if lane < lanes {
        let mut cutter = Cutter::new(lane, each, owners.len() as u32, k);
        let mut open = true;
        while open {
            let piece = cutter.next(owners);
            open = piece.kmers > 0;
            if open {
                counts[(piece.part * lanes + lane) as usize] += 1;
            }
        }
    }
}

/// Puts the pieces in order by part. `places` has sums of what [`supermer_count`] counted with the same settings; afterwards the
/// place behind the last piece of each. The first k-mer begins at base `first` of `bases`, which are as in
/// [`kmer_count`](crate::kmer::kmer_count).
#[kernel(unsafe(slices))]
pub fn supermer_cut(
    bases: &[u32],
    owners: &[u32],
    places: &mut [u32],
    out: &mut [Supermer],
    first: u32,
    k: u32,
    lanes: u32,
    each: u32,
) {
    let lane = thread::index();
    if lane < lanes {
        let mut cutter = Cutter::new(lane, each, owners.len() as u32, k);
        let mut open = true;
        while open {
            let piece = cutter.next(owners);
            open = piece.kmers > 0;
            if open {
                let place = (piece.part * lanes + lane) as usize;
                let to = places[place];
                places[place] = to + 1;
                out[to as usize] = packed(bases, piece, first, k);
            }
        }
    }
}
