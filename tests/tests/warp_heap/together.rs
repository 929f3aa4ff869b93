//! Warps that reach for the same words, and search them together.

use crate::{POOL, any, with_chunks};
use warpheap_api::host::{DeviceVec, LaunchConfig, Pool};
use warpheap_rt::alloc::WarpHeap;
use warpheap_tests::blocks::used;
use warpheap_tests::heap::{Failures, free, malloc};
use warpheap_tests::{Site, TestHeap, suite};

/// Blocks of 100 lanes have whole warps that do not begin at a multiple of 32. What they reach for in vain, since others
/// are there, is put back where it was taken.
#[test]
fn what_whole_warps_reach_for_in_vain_goes_back_where_it_was() {
    let lanes = 1600;
    let site = Site::host(32);
    let mut heap = TestHeap::<WarpHeap>::new(&site, POOL, 4 * lanes);
    for round in 0..12 {
        let slot = |lane: usize| lane + round % 4 * lanes;
        let taken = heap.taken();
        let mut frees = vec![vec![]; lanes];
        for &slot in taken.iter().filter(|&&slot| any(slot, round) % 2 == 0) {
            frees[slot % lanes].push(free(slot));
        }
        heap.run(&frees, Failures::None);
        let there = heap.taken();
        let mallocs: Vec<_> = (0..lanes)
            .map(|lane| match there.contains(&slot(lane)) {
                true => vec![],
                false => vec![malloc(slot(lane), 64)],
            })
            .collect();
        heap.run(&mallocs, Failures::None);
    }
    heap.check_all();
    let taken = heap.taken();
    heap.free_all(&taken, lanes);
    assert_eq!(heap.pool.stats().expect("stats").usage.used_bytes, 0);
}

/// All lanes of a launch ask for more than there is: what is free is found by some of them, and the others hear that
/// nothing is left, whoever it was that looked.
#[test]
fn what_is_left_is_found_by_lanes_that_search_together_in_explored_schedules() {
    for seed in 0..30 {
        let width = [1, 4, 32][seed % 3];
        let site = Site::explored(width, seed as u64);
        let (lanes, size) = (256, 512);
        // 80 chunks are three segments of a lap.
        let config = with_chunks(Some(4 << 10));
        let mut heap = TestHeap::<WarpHeap>::with(&site, 400 << 10, 2 * 1024, &config);
        let fill: Vec<_> = (0..1024).map(|slot| vec![malloc(slot, size)]).collect();
        heap.run(&fill, Failures::Any);
        for left in [0, 5, 0, 17] {
            let mut frees = vec![vec![]; lanes];
            for slot in heap.taken().into_iter().step_by(7).take(left) {
                frees[slot % lanes].push(free(slot));
            }
            heap.run(&frees, Failures::None);
            let full = heap.taken().len();
            let there = heap.taken();
            let free_slots: Vec<_> = (0..2048).filter(|slot| !there.contains(slot)).collect();
            let asks: Vec<_> = (0..lanes)
                .map(|i| vec![malloc(free_slots[i], size)])
                .collect();
            heap.run(&asks, Failures::Any);
            assert_eq!(heap.taken().len(), full + left, "seed {seed}");
        }
    }
}

#[test]
fn a_count_of_more_than_there_is_shows_as_what_there_is() {
    let site = Site::host(8);
    let chunk = 64u32 << 10;
    let pool: Pool<WarpHeap> = site
        .device
        .reserve_with(POOL, &with_chunks(Some(chunk)))
        .expect("a heap");
    // The word of the first chunk, as it is while many reach for what is left: a slab of blocks of one
    // granule, a chunk of units.
    let entries = pool.raw().params()[3] as u64 * 4;
    for tag in [1u32, 41] {
        let state = tag << 24 | 100_000;
        let buffer = &pool.raw().buffer;
        // SAFETY: nobody else has this memory.
        unsafe { buffer.write(entries, &state.to_ne_bytes()) }.expect("a word");
        let sums = DeviceVec::<u32>::zeroed(&site.device, 3).expect("sums");
        let shape = LaunchConfig {
            grid_dim: 1,
            block_dim: 40,
        };
        site.kernels
            .add_usage(&pool, shape, &sums)
            .expect("it runs");
        assert_eq!(sums.to_vec().expect("sums")[0], chunk / 16, "tag {tag}");
        assert_eq!(used(&pool), chunk as u64, "tag {tag}");
    }
}

#[test]
fn usage_in_kernels_makes_sense_under_explored_schedules() {
    for seed in 0..6 {
        suite::whole::usage_while_lanes_run(&Site::explored(4, seed));
    }
}
