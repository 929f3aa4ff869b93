//! Where blocks lie: dense heaps, chunks that lanes share, blocks over the ends of chunks, little more tied than held.
//!
//! Where a block lands depends on who came before, and a thread that the system stops for a while comes late. So these
//! run in one order, or under one schedule, each time.

use crate::{any, with_chunks};
use warpheap_rt::alloc::WarpHeap;
use warpheap_tests::heap::{Failures, free, malloc};
use warpheap_tests::{Site, TestHeap};

#[test]
fn a_fresh_heap_is_filled_densely() {
    for width in [4, 8, 32, 64] {
        let site = Site::in_order(width);
        // Blocks of these sizes are as large as their classes. Of small ones few lanes fill several small chunks. Blocks of
        // 1024 bytes in chunks of 4 KiB are units.
        let small = [16u64, 48, 64, 80, 256, 1024].map(|size| (size, 4 << 10));
        let large = [1024u64, 1280, 5120, 14_336].map(|size| (size, 256 << 10));
        for (size, chunk) in small.into_iter().chain(large) {
            let lanes = 2048;
            let config = with_chunks(Some(chunk));
            let mut heap = TestHeap::<WarpHeap>::with(&site, 64 << 20, lanes, &config);
            // Whole warps: lanes that ask alone share chunks.
            heap.block_dim = 128;
            let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, size)]).collect();
            let outcomes = heap.run(&program, Failures::None);
            let places = || {
                outcomes
                    .iter()
                    .flatten()
                    .map(|outcome| outcome.granule as u64 * 16)
            };
            let (first, last) = (places().min(), places().max());
            let range = last.expect("lanes") + size - first.expect("lanes");
            let asked = size * lanes as u64;
            // Of the last chunk the blocks that are used may be those at its other end.
            assert!(
                range * 20 <= asked * 21 + 20 * chunk as u64,
                "width {width}, {size} bytes: {range} for {asked}"
            );
        }
    }
}

#[test]
fn sizes_that_change_need_little_more_than_they_hold() {
    const SIZES: [u64; 7] = [24, 40, 72, 1050, 4100, 12_345, 100_000];
    for width in [4, 32] {
        let site = Site::explored(width, 1);
        // Three fifths of the heap.
        let lanes = 2300;
        let mut heap = TestHeap::<WarpHeap>::new(&site, 64 << 20, lanes);
        let mut sizes: Vec<usize> = (0..lanes).map(|lane| any(lane, 99) % SIZES.len()).collect();
        let ask = |lane: usize, size: usize| vec![malloc(lane, SIZES[size])];
        let program: Vec<_> = (0..lanes).map(|lane| ask(lane, sizes[lane])).collect();
        heap.run(&program, Failures::None);
        for round in 0..20 {
            let leaves = |lane: usize| any(lane, round).is_multiple_of(3);
            let program: Vec<_> = (0..lanes)
                .map(|lane| {
                    if leaves(lane) {
                        vec![free(lane)]
                    } else {
                        vec![]
                    }
                })
                .collect();
            heap.run(&program, Failures::None);
            let program: Vec<_> = (0..lanes)
                .map(|lane| {
                    if leaves(lane) {
                        sizes[lane] = (sizes[lane] + 1) % SIZES.len();
                        ask(lane, sizes[lane])
                    } else {
                        vec![]
                    }
                })
                .collect();
            heap.run(&program, Failures::None);
            let live = heap.live_bytes();
            let tied = heap.pool.stats().expect("stats").usage.committed_bytes;
            // Each class has a chunk that is not full, and small blocks leave holes.
            assert!(
                tied * 5 <= live * 8,
                "width {width}, round {round}: {tied} for {live}"
            );
        }
    }
}

#[test]
fn blocks_of_units_go_over_the_ends_of_chunks() {
    for width in [1, 4, 32] {
        let site = Site::explored(width, 1);
        let lanes = 1 << 10;
        // 13 units of 32 each; all warps ask for as many, or only some of their lanes.
        for skipped in [u32::MAX, 5] {
            let mut heap = TestHeap::<WarpHeap>::new(&site, 256 << 20, lanes);
            heap.block_dim = 128;
            let program: Vec<_> = (0..lanes)
                .map(|lane| match (lane as u32).is_multiple_of(skipped) {
                    true => vec![],
                    false => vec![malloc(lane, 100_000)],
                })
                .collect();
            heap.run(&program, Failures::None);
            let usage = heap.pool.stats().expect("stats").usage;
            eprintln!(
                "{width} {skipped} {:.3}",
                usage.committed_bytes as f64 / usage.used_bytes as f64
            );
            let frees: Vec<_> = (0..lanes)
                .map(|lane| match heap.taken().contains(&lane) {
                    true => vec![free(lane)],
                    false => vec![],
                })
                .collect();
            heap.run(&frees, Failures::None);
            let usage = heap.pool.stats().expect("stats").usage;
            assert_eq!((usage.used_bytes, usage.live_blocks), (0, Some(0)));
        }
    }
}

#[test]
fn lanes_that_ask_alone_share_chunks() {
    for width in [1, 4, 32] {
        let site = Site::explored(width, 1);
        let lanes = 1 << 14;
        let mut heap = TestHeap::<WarpHeap>::new(&site, 256 << 20, 4 * lanes);
        heap.block_dim = 128;
        for size in [64, 1024, 8192] {
            // One lane in forty, and each of them four times.
            let program: Vec<_> = (0..lanes)
                .map(|lane| match any(lane, size as usize).is_multiple_of(40) {
                    true => (0..4).map(|k| malloc(4 * lane + k, size)).collect(),
                    false => vec![],
                })
                .collect();
            heap.run(&program, Failures::None);
            let live = heap.live_bytes();
            let tied = heap.pool.stats().expect("stats").usage.committed_bytes;
            assert!(
                tied * 4 <= live * 5 + (4 << 20),
                "width {width}, {size} bytes: {tied} for {live}"
            );
            let taken = heap.taken();
            heap.free_all(&taken, 64);
        }
    }
}
