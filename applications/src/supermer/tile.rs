//! A tile: a thousand places side by side, whose runs the lanes of a block find together.
//!
//! Each lane takes every place whose number is the lane's modulo the lanes of the block, in each of the steps. First the hash of the word that
//! begins there, then the least of the hashes in the k-mer that begins there, which says whose it is, and then whether that is another one's than
//! the k-mer before: so all lanes do the same. A lane that went along the sequence and looked through a k-mer again whenever its least word was
//! left behind would let its warp wait at nearly every place.

use crate::kmer::word_at;
use crate::minimizer::{MOST_WORDS, minimizer_len, minimizer_words, part_of, word_hash_at};
use warpheap_rt::device::*;

/// Places of a tile. A run that goes on in the next one is cut in two.
pub const TILE: usize = 1024;
/// Words in the k-mers of a tile.
pub const HASHES: usize = TILE + MOST_WORDS as usize - 1;
const _: () = assert!(MOST_WORDS <= 5 * 4, "`find_owners` has five fours");
/// Words with a bit for each place.
pub const CHANGES: usize = TILE / 32;

/// Which places are looked at, and for what.
#[derive(Clone, Copy)]
pub struct Tile {
    /// How many places are in front.
    pub before: u32,
    /// The base at which the first one's k-mer begins.
    pub first: u32,
    /// How many there are, no more than [`TILE`].
    pub places: u32,
    /// Bases of a k-mer.
    pub k: u32,
    /// Parts to which k-mers may belong.
    pub parts: u32,
}

impl Tile {
    /// Tile `number` of `count` places, the first of which begins at base `first`.
    #[inline(always)]
    pub fn new(number: u32, first: u32, count: u32, k: u32, parts: u32) -> Self {
        let before = number * TILE as u32;
        Tile {
            before,
            first: first + before,
            places: (count - before).min(TILE as u32),
            k,
            parts,
        }
    }
}

/// Finds for each place of a tile the part that its k-mer belongs to, and 1; or 0 if a break is in it, and behind the last place. What it finds
/// is also `kept` for [`load_owners`]. `hashes` and `fours` are room. All lanes of the block call this together, when nobody needs any
/// more what is in `owners` and the room.
#[inline(always)]
pub fn find_owners(
    bases: &[u32],
    breaks: &[u32],
    kept: &mut [u32],
    hashes: SharedWords<HASHES>,
    fours: SharedWords<HASHES>,
    owners: SharedWords<TILE>,
    tile: Tile,
) {
    let (lane, lanes) = (thread::index_in_block(), thread::block_dim());
    let (k, first, places) = (tile.k, tile.first, tile.places);
    let len = minimizer_len(k);
    // With bounds, so that a compiler knows that indices are within the room.
    let words = minimizer_words(k).clamp(1, MOST_WORDS);
    let hashed = places + words - 1;
    let mut at = lane;
    while at < hashed {
        let hash = word_hash_at(bases, first + at, len);
        // SAFETY: a word is one lane's up to the barrier.
        unsafe { hashes.write(at, hash) };
        at += lanes;
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
    // The least of four words, or of all if they are fewer, at first; then that of five such fours, some of which may be the same.
    let few = words.min(4);
    let (second, third, fourth) = (1.min(few - 1), 2.min(few - 1), few - 1);
    at = lane;
    while at < hashed + 1 - few {
        // SAFETY: written before the barrier.
        let least = unsafe {
            let two = hashes.read(at).min(hashes.read(at + second));
            two.min(hashes.read(at + third))
                .min(hashes.read(at + fourth))
        };
        // SAFETY: a word is one lane's up to the barrier.
        unsafe { fours.write(at, least) };
        at += lanes;
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
    let last = words - few;
    let (second, third, fourth) = (4.min(last), 8.min(last), 12.min(last));
    // Breaks at the second base and behind it go through the k-mer.
    let inner = (1 << (k - 1)) - 1;
    at = lane;
    while at < TILE as u32 {
        let mut owner = 0;
        if at < places {
            // SAFETY: written before the barrier.
            let least = unsafe {
                let two = fours.read(at).min(fours.read(at + second));
                let four = two.min(fours.read(at + third)).min(fours.read(at + fourth));
                four.min(fours.read(at + last))
            };
            if word_at(breaks, first + at + 1, 0) & inner == 0 {
                owner = part_of(least, tile.parts) + 1;
            }
            kept[(tile.before + at) as usize] = owner;
        }
        // SAFETY: a word is one lane's up to the barrier.
        unsafe { owners.write(at, owner) };
        at += lanes;
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
}

/// Brings back what [`find_owners`] kept. All lanes of the block call this together, when nobody needs any more what is in `owners`.
#[inline(always)]
pub fn load_owners(kept: &[u32], owners: SharedWords<TILE>, tile: Tile) {
    let mut at = thread::index_in_block();
    while at < TILE as u32 {
        let mut owner = 0;
        if at < tile.places {
            owner = kept[(tile.before + at) as usize];
        }
        // SAFETY: a word is one lane's up to the barrier.
        unsafe { owners.write(at, owner) };
        at += thread::block_dim();
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
}

/// Sets a bit at each place whose k-mer is another one's than that before it, and at the first. All lanes of the block call this together.
#[inline(always)]
pub fn find_changes(owners: SharedWords<TILE>, changes: SharedWords<CHANGES>) {
    let (lane, lanes) = (thread::index_in_block(), thread::block_dim());
    let mut word = lane;
    while word < CHANGES as u32 {
        changes.store(word, 0);
        word += lanes;
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
    let mut at = lane;
    while at < TILE as u32 {
        // SAFETY: written before a barrier.
        let (own, before) = unsafe { (owners.read(at), owners.read(at.max(1) - 1)) };
        if (at == 0) | (own != before) {
            changes.fetch_or(at / 32, 1 << (at % 32));
        }
        at += lanes;
    }
    // SAFETY: all lanes are here.
    unsafe { thread::block_barrier() };
}

/// If a run begins at this place, whose it is, and 1; otherwise, and where no k-mer is, 0.
#[inline(always)]
pub fn owner_of_run(owners: SharedWords<TILE>, changes: SharedWords<CHANGES>, at: u32) -> u32 {
    let mut owner = 0;
    if changes.load(at / 32) & (1 << (at % 32)) != 0 {
        // SAFETY: nobody writes it behind the barrier.
        owner = unsafe { owners.read(at) };
    }
    owner
}

/// The place behind the run that begins at this one.
#[inline(always)]
pub fn run_end(changes: SharedWords<CHANGES>, at: u32) -> u32 {
    let mut word = at / 32;
    // In two steps: a shift by 32 is none.
    let mut later = changes.load(word) & (u32::MAX << 1 << (at % 32));
    while (later == 0) & (word + 1 < CHANGES as u32) {
        word += 1;
        later = changes.load(word);
    }
    if later == 0 {
        TILE as u32
    } else {
        word * 32 + later.trailing_zeros()
    }
}
