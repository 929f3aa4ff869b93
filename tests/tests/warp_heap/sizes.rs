//! Requests of every size: classes, units, runs, alignments, what the setting changes and what it costs.

use crate::{POOL, heap, with_chunks};
use warpheap_api::host::{DeviceError, HostAlloc, PlanError};
use warpheap_api::layout;
use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::host::WarpHeapConfig;
use warpheap_tests::blocks::{fill, free_all, keeps_alignments, room, used};
use warpheap_tests::heap::{Failures, malloc, realloc};
use warpheap_tests::{Site, TestHeap};

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
