//! Many lanes at a time.

use crate::{Settings, used};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpheap_api::host::HostAlloc;
use warpheap_tests::heap::{Failures, free, malloc};
use warpheap_tests::{Site, Subject, TestHeap};

for_variants! {
    sizes_of_512_bytes_and_up: OuroborosCVA, OuroborosCS, OuroborosCVL;
    mixed_sizes_together: OuroborosCVL, OuroborosCVA, OuroborosPVL;
    churn: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    narrow_warps: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
    queue_chunks_come_back: OuroborosPVA, OuroborosPVL, OuroborosCVA, OuroborosCVL;
    queues_of_freed_chunks_do_not_grow: OuroborosCVA, OuroborosCVL;
    many_lanes_free_at_once: OuroborosPVA, OuroborosPVL, OuroborosCVL;
    lanes_lap_a_small_queue: OuroborosPS, OuroborosPVA, OuroborosCS, OuroborosCVA;
}

fn sizes_of_512_bytes_and_up<A: Subject>() {
    let site = Site::host(32);
    for size in [512, 1024, 2048, 4096, 8192] {
        let lanes = 1024;
        let mut heap = TestHeap::<A>::new(&site, 32 << 20, lanes);
        for _ in 0..3 {
            let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, size)]).collect();
            heap.run(&program, Failures::None);
            heap.check_all();
            heap.free_all(&heap.taken(), 512);
            assert_eq!(used(&heap.pool), 0);
        }
    }
}

fn mixed_sizes_together<A: Subject>() {
    let site = Site::host(32);
    let lanes = 1024;
    let mut dice = SmallRng::seed_from_u64(3);
    for most in [512u64, 4096, 8192] {
        let mut heap = TestHeap::<A>::new(&site, 32 << 20, lanes * 2);
        for _ in 0..3 {
            let program: Vec<_> = (0..lanes)
                .map(|lane| {
                    let mut size = || 16 << dice.random_range(0..=(most / 16).ilog2());
                    vec![malloc(lane, size()), malloc(lanes + lane, size())]
                })
                .collect();
            heap.run(&program, Failures::None);
            heap.check_all();
            heap.free_all(&heap.taken(), 700);
            assert_eq!(used(&heap.pool), 0);
        }
    }
}

/// Lanes free and allocate sizes from 16 to 1024 bytes in their slots, with contents checked.
fn churn_on<A: Subject>(site: &Site, lanes: usize, pool: u64) {
    let each = 4;
    let mut heap = TestHeap::<A>::new(site, pool, lanes * each);
    let mut dice = SmallRng::seed_from_u64(11);
    for turn in 0..3 {
        let program: Vec<_> = (0..lanes)
            .map(|lane| {
                let first = (lane + turn * 5) % lanes * each;
                let mut ops = Vec::new();
                for _ in 0..16 {
                    let slot = first + dice.random_range(0..each);
                    ops.extend([free(slot), malloc(slot, dice.random_range(16..=1024))]);
                }
                ops
            })
            .collect();
        heap.run(&program, Failures::None);
        heap.check_all();
    }
    heap.free_all(&heap.taken(), lanes);
    assert_eq!(used(&heap.pool), 0);
}

fn churn<A: Subject>() {
    churn_on::<A>(&Site::host(32), 512, 32 << 20);
}

fn narrow_warps<A: Subject>() {
    for width in [1, 4, 8] {
        churn_on::<A>(&Site::host(width), 96, 16 << 20);
    }
}

/// A queue that many entries go through holds no more chunks than before.
fn queue_chunks_come_back<A: Subject>() {
    let site = Site::host(32);
    let lanes = 1024;
    let mut heap = TestHeap::<A>::new(&site, 8 << 20, lanes);
    let mut committed = Vec::new();
    for _ in 0..24 {
        let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, 2048)]).collect();
        heap.run(&program, Failures::None);
        heap.free_all(&heap.taken(), 1024);
        committed.push(heap.pool.stats().expect("stats").usage.committed_bytes);
    }
    let (early, late) = (committed[4], committed[23]);
    assert!(late <= early + (4 << 13), "{}: {committed:?}", A::NAME);
}

/// Entries of chunks that were given back leave the queue again, and so do the queue chunks that they were in. How
/// many of these there are between rounds depends on the order in which warps come, so the most of some rounds is
/// compared with the most of as many later ones.
fn queues_of_freed_chunks_do_not_grow<A: Subject>() {
    let site = Site::host(32);
    let lanes = 8192;
    let mut heap = TestHeap::<A>::new(&site, 8 << 20, lanes);
    let mut most = |rounds: usize| {
        let mut most = 0;
        for _ in 0..rounds {
            let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, 256)]).collect();
            heap.run(&program, Failures::None);
            heap.free_all(&heap.taken(), lanes);
            most = most.max(heap.pool.stats().expect("stats").usage.committed_bytes);
        }
        most
    };
    let [_, early, _, late] = [16; 4].map(&mut most);
    assert!(late <= early + (2 << 13), "{}: {early}, {late}", A::NAME);
}

/// Queues of launches so large that several queue chunks are added at a time.
fn many_lanes_free_at_once<A: Subject>() {
    let lanes = 36_000;
    for width in [4, 32] {
        let site = Site::host(width);
        let mut heap = TestHeap::<A>::new(&site, 32 << 20, lanes);
        heap.block_dim = 128;
        for _ in 0..2 {
            let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, 256)]).collect();
            heap.run(&program, Failures::None);
            heap.check_all();
            heap.free_all(&heap.taken(), lanes);
            assert_eq!(used(&heap.pool), 0);
        }
    }
}

/// Schedules that are explored.
const SEEDS: u64 = 200;

/// More lanes than a queue has places: those who come a whole ring later meet those who are still at a place. No page
/// may go to two of them.
fn lanes_lap_a_small_queue<A: Subject + HostAlloc<Config = Settings>>() {
    let config = Settings {
        queue_capacity: 1,
        ..Settings::default()
    };
    let lanes = 96;
    for seed in 0..SEEDS {
        let site = Site::explored([1, 4][seed as usize % 2], seed);
        let mut heap = TestHeap::<A>::with(&site, 1 << 20, 4 * lanes, &config);
        let program: Vec<_> = (0..lanes)
            .map(|lane| {
                let slots = 4 * lane..4 * lane + 4;
                let each =
                    slots.flat_map(|slot| [malloc(slot, 4096), free(slot), malloc(slot, 4096)]);
                let mut ops: Vec<_> = each.collect();
                ops.extend((4 * lane..4 * lane + 4).map(free));
                ops
            })
            .collect();
        heap.run(&program, Failures::Any);
        assert_eq!(used(&heap.pool), 0);
    }
}
