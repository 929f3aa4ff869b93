//! Supermers: runs of k-mers that belong to one part, cut by the process that counts them.
//!
//! Which part a k-mer belongs to is that of its [minimizer](crate::minimizer), which neighbours mostly share. So they travel as one piece
//! of sequence.
//!
//! A block cuts a few tiles, twice: [`supermer_count`] counts its pieces of each part, and [`supermer_cut`] puts them where sums of the
//! counts say. In between what belongs to whom is kept: to find it once more takes longer than to write and to read it.

use crate::kmer::word_at;
use tile::{CHANGES, HASHES, TILE, Tile, run_end};
use warpheap_rt::device::*;
use warpheap_rt::sync::Group;

pub mod add;
mod tile;

pub use tile::TILE as SUPERMER_TILE;

/// A run of k-mers that belong to one part: up to [`MOST_BASES`] bases as in [`kmer`](crate::kmer), and in the upper 6 bits of the last
/// word the number of k-mers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, HeapData)]
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

/// Most k-mers of a piece.
#[inline(always)]
const fn most_kmers(k: u32) -> u32 {
    MOST_BASES + 1 - k
}

/// How many pieces a run of so many k-mers is.
#[inline(always)]
fn pieces_of(kmers: u32, k: u32) -> u32 {
    // Mostly one: a division would take longer.
    let (mut pieces, mut left) = (1, kmers);
    while left > most_kmers(k) {
        left -= most_kmers(k);
        pieces += 1;
    }
    pieces
}

/// The piece of so many k-mers, the first of which begins at base `begin`.
#[inline(always)]
fn packed(bases: &[u32], begin: u32, kmers: u32, k: u32) -> Supermer {
    let end = begin + kmers + k - 1;
    Supermer {
        words: [
            bases_at(bases, begin, end),
            bases_at(bases, begin + 16, end),
            bases_at(bases, begin + 32, end),
            bases_at(bases, begin + 48, end) | kmers << 26,
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

/// Parts whose counters the lanes of a block share; where there are more, all lie in the device's memory.
const SHARED_PARTS: usize = 64;

/// The counters of the calling lane's block, one for each part.
#[derive(Clone, Copy)]
struct Counters<'a> {
    all: &'a [AtomicWord],
    parts: u32,
}

impl Counters<'_> {
    /// Where that of a part lies.
    #[inline(always)]
    fn at(self, part: u32) -> usize {
        (part * thread::grid_dim() + thread::block_index()) as usize
    }

    #[inline(always)]
    fn are_shared(self) -> bool {
        self.parts as usize <= SHARED_PARTS
    }

    /// Copies them to where the lanes of the block share them. All lanes call it.
    #[inline(always)]
    fn take(self, shared: SharedWords<SHARED_PARTS>) {
        let mut part = thread::index_in_block();
        while self.are_shared() & (part < self.parts) {
            shared.store(part, self.all[self.at(part)].load());
            part += thread::block_dim();
        }
        // SAFETY: all lanes are here.
        unsafe { thread::block_barrier() };
    }

    /// Copies them back. All lanes call it, behind a barrier.
    #[inline(always)]
    fn give(self, shared: SharedWords<SHARED_PARTS>) {
        let mut part = thread::index_in_block();
        while self.are_shared() & (part < self.parts) {
            self.all[self.at(part)].store(shared.load(part));
            part += thread::block_dim();
        }
    }

    /// Adds to that of a part; what it was before.
    #[inline(always)]
    fn add(self, shared: SharedWords<SHARED_PARTS>, part: u32, pieces: u32) -> u32 {
        if self.are_shared() {
            shared.fetch_add(part, pieces)
        } else {
            self.all[self.at(part)].fetch_add(pieces)
        }
    }
}

/// Counts the pieces of each part of the k-mers at `count` places, the first of which begins at base `first`: those of part `p` that block `b`
/// of `n` cuts are added to `counts[p * n + b]`. A block cuts `tiles` tiles of [`SUPERMER_TILE`] places, and all blocks together no fewer
/// than there are. `bases` and `breaks` are as in [`kmer_count`](crate::kmer::kmer_count). `kept[i]` gets the part of the k-mer at place `i`,
/// and 1; or 0 if a break is in it.
#[kernel(unsafe(slices), max_registers = 32)]
pub fn supermer_count(
    bases: &[u32],
    breaks: &[u32],
    counts: &[AtomicWord],
    kept: &mut [u32],
    hashes: SharedWords<HASHES>,
    fours: SharedWords<HASHES>,
    owners: SharedWords<TILE>,
    changes: SharedWords<CHANGES>,
    shared: SharedWords<SHARED_PARTS>,
    first: u32,
    count: u32,
    k: u32,
    parts: u32,
    tiles: u32,
) {
    let counters = Counters { all: counts, parts };
    let group = Group::here();
    counters.take(shared);
    let mut number = thread::block_index() * tiles;
    let end = (number + tiles).min(count.div_ceil(TILE as u32));
    while number < end {
        let tile = Tile::new(number, first, count, k, parts);
        tile::find_owners(bases, breaks, kept, hashes, fours, owners, tile);
        tile::find_changes(owners, changes);
        let mut at = thread::index_in_block();
        while at < tile.places {
            let owner = tile::owner_of_run(owners, changes, at);
            if owner != 0 {
                let kmers = run_end(changes, at) - at;
                counters.add(shared, owner - 1, pieces_of(kmers, k));
            }
            at += thread::block_dim();
        }
        // Runs have led lanes apart, and a barrier of the block does not bring them together again.
        group.barrier();
        // SAFETY: all lanes of the block go through the same tiles.
        unsafe { thread::block_barrier() };
        number += 1;
    }
    counters.give(shared);
}

/// Puts the pieces in order by part; of a part those of a block are side by side, in any order. `kept` is what
/// [`supermer_count`] left there, and `places` has sums of what it counted with the same settings and as many blocks: where the first piece of each part that some block cuts belongs;
/// afterwards the place behind the last one.
#[kernel(unsafe(slices), max_registers = 32)]
pub fn supermer_cut(
    bases: &[u32],
    kept: &[u32],
    places: &[AtomicWord],
    out: &mut [Supermer],
    owners: SharedWords<TILE>,
    changes: SharedWords<CHANGES>,
    shared: SharedWords<SHARED_PARTS>,
    first: u32,
    count: u32,
    k: u32,
    parts: u32,
    tiles: u32,
) {
    let counters = Counters { all: places, parts };
    let group = Group::here();
    counters.take(shared);
    let mut number = thread::block_index() * tiles;
    let end = (number + tiles).min(count.div_ceil(TILE as u32));
    while number < end {
        let tile = Tile::new(number, first, count, k, parts);
        tile::load_owners(kept, owners, tile);
        tile::find_changes(owners, changes);
        let mut at = thread::index_in_block();
        while at < tile.places {
            let owner = tile::owner_of_run(owners, changes, at);
            if owner != 0 {
                let behind = run_end(changes, at);
                let mut to = counters.add(shared, owner - 1, pieces_of(behind - at, k));
                let mut begin = at;
                while begin < behind {
                    let kmers = (behind - begin).min(most_kmers(k));
                    out[to as usize] = packed(bases, tile.first + begin, kmers, k);
                    to += 1;
                    begin += kmers;
                }
            }
            at += thread::block_dim();
        }
        // Runs have led lanes apart, and a barrier of the block does not bring them together again.
        group.barrier();
        // SAFETY: all lanes of the block go through the same tiles.
        unsafe { thread::block_barrier() };
        number += 1;
    }
    counters.give(shared);
}
