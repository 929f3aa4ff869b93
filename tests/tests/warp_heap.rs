//! What only WarpHeap promises: little waste by its size classes, chunks that serve any size once they are
//! empty, blocks as large as the pool, dense heaps, and its setting.

use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, LaunchConfig, PlanError, Pool};
use warpheap_api::layout;
use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::host::WarpHeapConfig;
use warpheap_tests::blocks::{fill, free_all, keeps_alignments, room, used};
use warpheap_tests::heap::{Failures, free, malloc, realloc};
use warpheap_tests::{Site, TestHeap, suite};

const POOL: u64 = 4 << 20;

fn with_chunks(chunk_bytes: Option<u32>) -> WarpHeapConfig {
    WarpHeapConfig { chunk_bytes }
}

fn heap(bytes: u64, config: &WarpHeapConfig) -> Pool<WarpHeap> {
    let site = Site::host(8);
    site.device.reserve_with(bytes, config).expect("a heap")
}

#[test]
fn a_block_is_at_most_a_quarter_larger_than_its_request() {
    let pool = heap(POOL, &with_chunks(Some(64 << 10)));
    let mut bytes = 64u64;
    while bytes <= 8 << 10 {
        for request in [bytes, bytes + 1, bytes + 15u64] {
            let layout = layout::bytes(request as usize);
            let block = pool.malloc(layout).expect("there is room");
            let taken = used(&pool);
            // Requests count granules.
            let granules = request.div_ceil(16) * 16;
            assert!(
                taken >= request && taken * 4 <= granules * 5,
                "{request}: {taken}"
            );
            free_all(&pool, vec![block], layout);
        }
        bytes += 112;
    }
    for request in [1usize, 16, 17, 33, 48] {
        let block = pool.malloc(layout::bytes(request)).expect("there is room");
        assert_eq!(used(&pool), request.div_ceil(16) as u64 * 16, "{request}");
        free_all(&pool, vec![block], layout::bytes(request));
    }
}

#[test]
fn an_emptied_chunk_serves_every_size() {
    let pool = heap(POOL, &with_chunks(None));
    for request in [4096, 16, 1024, 64 << 10, 128, 256, 1 << 20, 16, 2048, 512] {
        let layout = layout::bytes(request);
        let blocks = fill(&pool, layout);
        let held = blocks.len() as u64 * request as u64;
        // Whole blocks of the request fit the room once; large ones may leave less than one of theirs.
        let possible = room(&pool) / request as u64 * request as u64;
        assert!(
            held * 20 >= possible * 19,
            "{request} bytes: {held} of {possible}"
        );
        free_all(&pool, blocks, layout);
        assert_eq!(used(&pool), 0);
    }
}

#[test]
fn a_request_may_be_as_large_as_the_pool() {
    let pool = heap(POOL, &with_chunks(None));
    let whole = layout::bytes(room(&pool) as usize);
    for _ in 0..2 {
        let block = pool.malloc(whole).expect("all chunks as one run");
        assert!(pool.malloc(layout::bytes(1)).is_err(), "nothing is left");
        free_all(&pool, vec![block], whole);
        let blocks = fill(&pool, layout::bytes(48));
        assert!(pool.malloc(whole).is_err(), "blocks are in the way");
        free_all(&pool, blocks, layout::bytes(48));
    }
    let beyond = layout::bytes(room(&pool) as usize + 1);
    assert!(pool.malloc(beyond).is_err());
}

#[test]
fn alignments_to_64_kib_are_kept() {
    // Chunks smaller and larger than the alignment.
    for chunk_bytes in [4 << 10, 64 << 10, 256 << 10] {
        keeps_alignments(&heap(8 << 20, &with_chunks(Some(chunk_bytes))));
    }
}

#[test]
fn a_full_heap_says_so_and_is_usable_again() {
    let pool = heap(1 << 20, &with_chunks(Some(16 << 10)));
    let size = layout::bytes(200);
    let mut blocks = fill(&pool, size);
    for _ in 0..3 {
        for bytes in [1, 200, 3000, 40_000] {
            assert!(
                pool.malloc(layout::bytes(bytes)).is_err(),
                "{bytes} of none"
            );
        }
        let last = blocks.pop().expect("it held some");
        free_all(&pool, vec![last], size);
        blocks.push(pool.malloc(size).expect("what was freed"));
    }
    let count = blocks.len();
    free_all(&pool, blocks, size);
    assert_eq!(fill(&pool, size).len(), count);
}

#[test]
fn larger_blocks_take_units_and_runs_with_tails() {
    let chunk = 64u64 << 10;
    let pool = heap(POOL, &with_chunks(Some(chunk as u32)));
    let unit = chunk / 32;
    for (bytes, taken) in [
        (chunk / 8 + 1, 5 * unit),
        (chunk / 2, 16 * unit),
        (chunk - 1, chunk),
        (chunk, chunk),
        (chunk + 1, chunk + unit),
        (5 * chunk + 3 * unit - 7, 5 * chunk + 3 * unit),
        (7 * chunk + unit * 31, 7 * chunk + unit * 31),
    ] {
        let layout = layout::bytes(bytes as usize);
        let block = pool.malloc(layout).expect("there is room");
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(
            (usage.used_bytes, usage.live_blocks),
            (taken, Some(1)),
            "{bytes}"
        );
        // What is left serves others, over the ends of chunks too: with six in a chunk a sixteenth would be left over.
        let units = fill(&pool, layout::bytes(5 * unit as usize));
        let left = (room(&pool) - taken) / unit - 5 * units.len() as u64;
        let all = room(&pool) / unit;
        assert!(left * 32 <= all, "{bytes}: {left} of {all}");
        free_all(&pool, units, layout::bytes(5 * unit as usize));
        free_all(&pool, vec![block], layout);
        assert_eq!(used(&pool), 0, "{bytes}");
    }
}

#[test]
fn realloc_within_a_class_stays_in_place() {
    let site = Site::host(8);
    let steps: [(&[u64], bool); 4] = [
        (&[513, 600, 640, 520], true),
        (&[16, 1, 15, 16], true),
        (&[640, 641], false),
        (&[100_000, 99_990, 100_000], true),
    ];
    for (sizes, stays) in steps {
        let mut heap = TestHeap::<WarpHeap>::new(&site, POOL, 1);
        let mut program = vec![malloc(0, sizes[0])];
        program.extend(sizes[1..].iter().map(|&size| realloc(0, size)));
        let outcomes = heap.run(&[program], Failures::None).remove(0);
        let first = outcomes[0].granule;
        let same = outcomes.iter().all(|outcome| outcome.granule == first);
        assert_eq!(same, stays, "{sizes:?}: {outcomes:?}");
    }
}

#[test]
fn the_setting_decides_the_chunk() {
    for shift in 12..=18 {
        let chunk = 1u64 << shift;
        let pool = heap(8 << 20, &with_chunks(Some(chunk as u32)));
        // An eighth of a chunk shares it with others; one byte more takes five 32nds.
        for (bytes, taken) in [(chunk / 8, chunk / 8), (chunk / 8 + 1, chunk / 32 * 5)] {
            let layout = layout::bytes(bytes as usize);
            let block = pool.malloc(layout).expect("there is room");
            let usage = pool.stats().expect("stats").usage;
            assert_eq!((usage.used_bytes, usage.committed_bytes), (taken, chunk));
            free_all(&pool, vec![block], layout);
        }
    }
    let site = Site::host(4);
    match site
        .device
        .reserve_with::<WarpHeap>(POOL, &with_chunks(Some(5000)))
    {
        Err(DeviceError::Plan(PlanError::BadSetting { setting, value, .. })) => {
            assert_eq!((setting, value), ("chunk_bytes", 5000));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn metadata_are_a_hundredth_of_large_pools() {
    for bytes in [
        1u64 << 30,
        3 << 30,
        8 << 30,
        10_000_000_000,
        (64 << 30) - 16,
    ] {
        let plan = WarpHeap::plan(bytes, &WarpHeapConfig::default()).expect("a plan");
        assert!(
            plan.metadata_bytes * 100 <= bytes,
            "{bytes}: {}",
            plan.metadata_bytes
        );
    }
}

#[test]
fn a_fresh_heap_is_filled_densely() {
    for width in [4, 8, 32, 64] {
        let site = Site::host(width);
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

/// A number for each lane and round.
fn any(lane: usize, round: usize) -> usize {
    let mixed = (lane as u32 ^ (round as u32) << 20).wrapping_mul(0x9e37_79b1);
    ((mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77) >> 8) as usize
}

#[test]
fn sizes_that_change_need_little_more_than_they_hold() {
    const SIZES: [u64; 7] = [24, 40, 72, 1050, 4100, 12_345, 100_000];
    for width in [4, 32] {
        let site = Site::host(width);
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
        let site = Site::host(width);
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
        let site = Site::host(width);
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
    let entries = pool.raw().params[3] as u64 * 4;
    for tag in [1u32, 41] {
        let state = tag << 24 | 100_000;
        let buffer = &pool.raw().buffer;
        buffer.write(entries, &state.to_ne_bytes()).expect("a word");
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
