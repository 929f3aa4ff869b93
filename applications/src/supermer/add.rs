//! Counting the k-mers of pieces of sequence.
//!
//! A piece has 1 to 61 k-mers, so lanes that took one each would wait for the one with most. Lanes of a warp take all k-mers of their pieces
//! one after the other instead, each its own, and get the words of the piece that has it from the lane that read it.

use super::Supermer;
use crate::kmer::{Kmer, kmer_of};
use warpheap_rt::device::*;
use warpheap_rt::sync::{Group, group_sum};

/// Adds 1 to the value of each k-mer of these pieces in the map, and their number to `added[0]`. With `canonical` other than 0 k-mers are
/// as [`kmer_count`](crate::kmer::kmer_count) counts them.
///
/// # Errors
/// As `HeapHashMap::add`. The other k-mers are counted.
#[kernel(allocators = [all, Traced<WarpHeap>])]
pub fn supermer_add<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<Kmer, u32>,
    pieces: &[Supermer],
    added: &[AtomicWord],
    k: u32,
    canonical: u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    let mut piece = Supermer::NONE;
    if i < pieces.len() {
        piece = pieces[i];
    }
    let kmers = piece.kmers();
    let group = Group::here();
    let sum = group_sum(group, kmers);
    if group.leads() {
        added[0].fetch_add(sum.total);
    }
    let (begin, end) = (sum.before, sum.before + kmers);
    let mut outcome = Ok(());
    // The k-mer that this lane takes, and the lane that has its piece.
    let mut number = group.rank();
    let mut owner = group.lanes().first();
    let mut taken = 0;
    while taken < sum.total {
        // Adding to the map has led lanes apart.
        group.barrier();
        let mut searching = true;
        while searching {
            let later = group.lanes().after(owner);
            let behind = (group.shuffle(end, owner) <= number) & !later.is_empty();
            if behind {
                owner = later.first();
            }
            searching = group.any(behind);
        }
        let at = number.wrapping_sub(group.shuffle(begin, owner));
        let [a, b, c, d] = piece.words;
        let words = [
            group.shuffle(a, owner),
            group.shuffle(b, owner),
            group.shuffle(c, owner),
            group.shuffle(d, owner),
        ];
        if number < sum.total {
            let kmer = kmer_in(words, at, k, canonical != 0);
            if let Err(error) = map.add(heap, kmer, 1) {
                outcome = Err(error);
            }
        }
        number += group.count();
        taken += group.count();
    }
    outcome
}

/// K-mer `at` of a piece with these words.
#[inline(always)]
fn kmer_in([a, b, c, d]: [u32; 4], at: u32, k: u32, canonical: bool) -> Kmer {
    // It begins in any of the words, and lies in up to three.
    let (mut first, mut second, mut third) = (a, b, c);
    if at >= 48 {
        (first, second, third) = (d, 0, 0);
    } else if at >= 32 {
        (first, second, third) = (c, d, 0);
    } else if at >= 16 {
        (first, second, third) = (b, c, d);
    }
    let bit = at % 16 * 2;
    // In two steps: a shift by 32 is none.
    let low = first >> bit | second << 1 << (31 - bit);
    let high = second >> bit | third << 1 << (31 - bit);
    kmer_of(high, low, k, canonical)
}
