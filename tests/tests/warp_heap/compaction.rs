//! Compaction gives back what blocks that live long tie up.

use crate::{any, with_chunks};
use warpheap_rt::alloc::WarpHeap;
use warpheap_tests::heap::{Failures, free, malloc};
use warpheap_tests::suite::compaction::{begin, end, move_all};
use warpheap_tests::{Site, TestHeap};

const CHUNK: u64 = 16 << 10;

/// A heap in which one block of 32 bytes in every so many is left of those that filled all of it.
fn thinned_out(site: &Site, pool: u64, one_in: usize) -> TestHeap<'_, WarpHeap> {
    let lanes = (pool / 32 * 9 / 10) as usize;
    let config = with_chunks(Some(CHUNK as u32));
    let mut heap = TestHeap::<WarpHeap>::with(site, pool, lanes, &config);
    heap.block_dim = 128;
    let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, 32)]).collect();
    heap.run(&program, Failures::None);
    let program: Vec<_> = (0..lanes)
        .map(|lane| match any(lane, 1).is_multiple_of(one_in) {
            true => vec![],
            false => vec![free(lane)],
        })
        .collect();
    heap.run(&program, Failures::None);
    heap
}

fn compact(heap: &mut TestHeap<'_, WarpHeap>, percent: u32) -> u32 {
    let marked = begin(heap, percent);
    move_all(heap);
    end(heap);
    let audit = heap.pool.audit().expect("an audit");
    assert!(audit.is_clean(), "{audit}");
    marked
}

#[test]
fn little_more_is_tied_than_live() {
    for width in [1, 4, 8, 32, 64] {
        let site = Site::explored(width, 1);
        let mut heap = thinned_out(&site, 4 << 20, 9);
        let before = heap.pool.stats().expect("stats").usage.committed_bytes;
        compact(&mut heap, 75);
        let (live, tied) = (
            heap.live_bytes(),
            heap.pool.stats().expect("stats").usage.committed_bytes,
        );
        assert!(before > 8 * live, "width {width}: {before} for {live}");
        // One chunk may be begun, and of the others a sixteenth is spared.
        assert!(
            tied <= live * 9 / 8 + 2 * CHUNK,
            "width {width}: {tied} for {live}"
        );
        heap.check_all();
        assert_eq!(
            compact(&mut heap, 75),
            0,
            "width {width}: nothing is left to do"
        );
    }
}

#[test]
fn what_was_left_serves_other_sizes() {
    let site = Site::host(32);
    let mut heap = thinned_out(&site, 4 << 20, 50);
    let large = heap.taken()[0] + 1;
    let ask = vec![vec![malloc(large, 1 << 20)]];
    assert!(heap.empty().contains(&large));
    let refused = heap.run(&ask, Failures::Exhausted);
    assert_ne!(refused[0][0].code, 0, "a block in every chunk");
    compact(&mut heap, 50);
    heap.run(&ask, Failures::None);
    heap.check_all();
}

#[test]
fn chunks_that_are_full_enough_stay() {
    let site = Site::host(32);
    let mut heap = thinned_out(&site, 4 << 20, 2);
    let starts = |heap: &TestHeap<'_, WarpHeap>| -> Vec<_> {
        let taken = heap.taken();
        taken.into_iter().map(|slot| heap.start_of(slot)).collect()
    };
    let before = starts(&heap);
    // Where the launch ended a chunk or two were not filled.
    assert!(compact(&mut heap, 25) <= 2);
    let after = starts(&heap);
    let moved = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(moved < 2 * CHUNK as usize / 32 / 4, "{moved} moved");
}

#[test]
fn a_compaction_that_is_not_ended_hands_out_nothing_of_what_is_to_be_left() {
    let site = Site::host(32);
    let mut heap = thinned_out(&site, 4 << 20, 50);
    let empty = heap.empty();
    assert!(begin(&mut heap, 50) > 200);
    move_all(&mut heap);
    let ask = vec![vec![malloc(empty[0], 1 << 20)]];
    let refused = heap.run(&ask, Failures::Exhausted);
    assert_ne!(refused[0][0].code, 0);
    end(&mut heap);
    heap.run(&ask, Failures::None);
}
