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

/// Blocks of seven sizes, one for each lane; in each of 20 rounds a third is freed and asked for at the next size, and all are
/// served. Gives the most that was tied over what was live, and the most that was in use over the pool.
fn sizes_change(width: u32, pool: u64, lanes: usize) -> (f64, f64) {
    const SIZES: [u64; 7] = [24, 40, 72, 1050, 4100, 12_345, 100_000];
    let site = Site::explored(width, 1);
    let mut heap = TestHeap::<WarpHeap>::new(&site, pool, lanes);
    let mut sizes: Vec<usize> = (0..lanes).map(|lane| any(lane, 99) % SIZES.len()).collect();
    let ask = |lane: usize, size: usize| vec![malloc(lane, SIZES[size])];
    let program: Vec<_> = (0..lanes).map(|lane| ask(lane, sizes[lane])).collect();
    heap.run(&program, Failures::None);
    let mut most = (0.0f64, 0.0f64);
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
        let usage = heap.pool.stats().expect("stats").usage;
        most.0 = most.0.max(usage.committed_bytes as f64 / live as f64);
        most.1 = most.1.max(usage.used_bytes as f64 / pool as f64);
    }
    most
}

#[test]
fn sizes_that_change_need_little_more_than_they_hold() {
    for width in [4, 32] {
        // Three fifths of the heap. In a smaller one the chunk that each class has begun weighs as much as all holes.
        let (tied, _) = sizes_change(width, 128 << 20, 4600);
        assert!(tied <= 1.6, "width {width}: {tied}");
    }
}

#[test]
fn sizes_that_change_are_served_in_a_heap_that_is_nearly_full() {
    for width in [4, 32] {
        // All of it is served, or the program stops.
        let (_, used) = sizes_change(width, 64 << 20, 3100);
        assert!(used >= 0.88, "width {width}: {used}");
    }
}

#[test]
fn blocks_of_units_fill_a_heap_whatever_the_order() {
    for width in [1, 4, 32] {
        for (size, units) in [(100_000, 13), (140_000, 18), (50_000, 7)] {
            let site = Site::explored(width, 1);
            let pool = 64 << 20;
            // 256 chunks, less one for what the heap needs itself.
            let lanes = 255 * 32 * 19 / 20 / units;
            let mut heap = TestHeap::<WarpHeap>::new(&site, pool, lanes);
            // One lane in five asks at a time: those that are together are not alike.
            let mut waiting: Vec<usize> = (0..lanes).collect();
            for round in 0..10 {
                for part in 0..5 {
                    let mut program = vec![vec![]; lanes];
                    for &lane in waiting.iter().filter(|&&lane| any(lane, round) % 5 == part) {
                        program[lane] = vec![malloc(lane, size)];
                    }
                    heap.run(&program, Failures::None);
                }
                waiting = (0..lanes)
                    .filter(|&lane| any(lane, round + 50).is_multiple_of(2))
                    .collect();
                let mut program = vec![vec![]; lanes];
                for &lane in &waiting {
                    program[lane] = vec![free(lane)];
                }
                heap.run(&program, Failures::None);
            }
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
