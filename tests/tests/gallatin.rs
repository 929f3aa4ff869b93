//! What only Gallatin promises: lanes that share a claim, blocks that come back whole, segments that serve
//! another class, requests of several segments, and pools of every size.

use warpheap_api::host::Pool;
use warpheap_api::{DevicePtr, layout};
use warpheap_rt::alloc::Gallatin;
use warpheap_rt::host::GallatinConfig;
use warpheap_tests::blocks::{fill, free_all, keeps_alignments, room, used};
use warpheap_tests::heap::{Failures, free, malloc};
use warpheap_tests::{Site, TestHeap, suite};

const POOL: u64 = 4 << 20;
/// Segments of 64 KiB with 64 slices to a block: slices of 16 to 1024 bytes.
const SEGMENT: u64 = 64 << 10;

fn config() -> GallatinConfig {
    GallatinConfig {
        segment_bytes: Some(SEGMENT as u32),
        slices: Some(64),
        largest_slice: Some(1024),
        buffers: Some(4),
        least_buffers: Some(1),
    }
}

fn heap(config: &GallatinConfig) -> Pool<Gallatin> {
    let site = Site::host(8);
    site.device.reserve_with(POOL, config).expect("a heap")
}

fn segments(pool: &Pool<Gallatin>) -> u64 {
    room(pool) / SEGMENT
}

#[test]
fn lanes_of_a_warp_get_slices_side_by_side() {
    for width in [1, 4, 8, 32, 64] {
        let site = Site::host(width);
        for size in [16u64, 64, 1024] {
            let lanes = width as usize * 6;
            let mut heap = TestHeap::<Gallatin>::new(&site, suite::ROOMY, lanes);
            heap.block_dim = width;
            let program: Vec<_> = (0..lanes).map(|lane| vec![malloc(lane, size)]).collect();
            let outcomes = heap.run(&program, Failures::None);
            let places: Vec<u64> = outcomes
                .iter()
                .flatten()
                .map(|o| o.granule as u64)
                .collect();
            // Blocks of a heap of this size have 32 slices.
            for warp in places.chunks(width.min(32) as usize) {
                let apart = size / 16;
                let fine = warp.windows(2).filter(|two| two[1] == two[0] + apart);
                // A block that ends in the middle parts them once.
                assert!(fine.count() + 2 >= warp.len(), "width {width}: {warp:?}");
            }
        }
    }
}

#[test]
fn slices_are_used_again_when_all_of_their_block_are_back() {
    let pool = heap(&config());
    let size = layout::bytes(1024);
    // A block of 1024-byte slices is a segment: 64 slices, handed out in order.
    let first: Vec<_> = (0..64).map(|_| pool.malloc(size).expect("room")).collect();
    let base = first[0].byte_offset(0);
    let inside = |block: &DevicePtr<u8>| (base..base + SEGMENT).contains(&block.byte_offset(0));
    assert!(first.iter().all(inside));
    let mut rest = first;
    let last = rest.pop().expect("64 of them");
    free_all(&pool, rest, size);
    let others = fill(&pool, size);
    assert_eq!(others.len() as u64, (segments(&pool) - 1) * 64);
    assert!(!others.iter().any(inside), "a slice of it is in use");
    free_all(&pool, vec![last], size);
    let again = fill(&pool, size);
    assert_eq!(again.len(), 64);
    assert!(again.iter().all(inside));
}

#[test]
fn an_emptied_segment_serves_every_class() {
    let pool = heap(&config());
    let room = segments(&pool) * SEGMENT;
    for bytes in [
        16,
        1024,
        4096,
        32,
        SEGMENT,
        100,
        512,
        2 * SEGMENT,
        20_000,
        16,
    ] {
        let layout = layout::bytes(bytes as usize);
        let taken = match bytes {
            0..=SEGMENT => bytes.next_power_of_two(),
            _ => bytes.next_multiple_of(SEGMENT),
        };
        let blocks = fill(&pool, layout);
        assert_eq!(blocks.len() as u64, room / taken, "{bytes} bytes");
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, room / taken * taken, "{bytes} bytes");
        assert_eq!(usage.live_blocks, Some(room / taken));
        free_all(&pool, blocks, layout);
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0);
        assert_eq!(usage.largest_free_run, Some(room), "nothing is tied up");
    }
}

#[test]
fn what_buffers_hold_is_no_reason_to_fail() {
    let pool = heap(&config());
    let all = segments(&pool) * SEGMENT;
    let whole = layout::bytes(all as usize);
    let sizes = [16, 32, 64, 128, 256, 512, 1024, 3000];
    for _ in 0..2 {
        // Each size leaves a block in a buffer of its class.
        for bytes in sizes {
            let layout = layout::bytes(bytes);
            let block = pool.malloc(layout).expect("there is room");
            assert!(pool.malloc(whole).is_err(), "{bytes} bytes are in the way");
            free_all(&pool, vec![block], layout);
        }
        let block = pool.malloc(whole).expect("nobody has anything");
        assert!(pool.malloc(layout::bytes(1)).is_err(), "nothing is left");
        free_all(&pool, vec![block], whole);
    }
}

#[test]
fn several_segments_come_from_the_back() {
    let pool = heap(&config());
    let all = segments(&pool);
    let end = pool.malloc(layout::bytes(1)).expect("a slice");
    let base = end.byte_offset(0);
    assert_eq!(base, pool.metadata_bytes() / SEGMENT * SEGMENT, "the front");
    let mut back = base + all * SEGMENT;
    let mut taken = Vec::new();
    for bytes in [SEGMENT + 1, 3 * SEGMENT, 10 * SEGMENT - 5] {
        let layout = layout::bytes(bytes as usize);
        let block = pool.malloc(layout).expect("there is room");
        back -= bytes.next_multiple_of(SEGMENT);
        assert_eq!(block.byte_offset(0), back, "{bytes} bytes");
        taken.push((block, layout));
    }
    // The hole that the first leaves serves it again, and nothing longer.
    let (block, two) = taken.remove(0);
    free_all(&pool, vec![block], two);
    let three = layout::bytes(3 * SEGMENT as usize);
    let other = pool.malloc(three).expect("there is room further in front");
    assert_eq!(other.byte_offset(0), back - 3 * SEGMENT);
    assert_eq!(pool.malloc(two).ok(), Some(block));
}

#[test]
fn alignments_beyond_a_segment_are_kept() {
    for segment_bytes in [1 << 10, 8 << 10, 256 << 10] {
        let config = GallatinConfig {
            segment_bytes: Some(segment_bytes),
            ..GallatinConfig::default()
        };
        keeps_alignments(&heap(&config));
    }
}

#[test]
fn a_full_heap_says_so_and_recovers() {
    let pool = heap(&config());
    for bytes in [16, 1000, 40_000] {
        let size = layout::bytes(bytes);
        let mut blocks = fill(&pool, size);
        for other in [1, 500, 3000, 100_000] {
            assert!(
                pool.malloc(layout::bytes(other)).is_err(),
                "{other} of none"
            );
        }
        // Blocks are slices of the same segment or segments themselves: the last ones fill one alone.
        let count = blocks.len();
        let tail = blocks.split_off(count - (SEGMENT as usize / bytes.next_power_of_two()));
        free_all(&pool, tail, size);
        blocks.append(&mut fill(&pool, size));
        assert_eq!(blocks.len(), count, "{bytes} bytes");
        free_all(&pool, blocks, size);
    }
}

#[test]
fn small_pools_are_filled_by_many_lanes() {
    let site = Site::host(4);
    for extra in [0, 4 << 10, 40 << 10, 300 << 10, 1 << 20] {
        let bytes = suite::least::<Gallatin>() + extra;
        let lanes = 200;
        let mut heap = TestHeap::<Gallatin>::new(&site, bytes, lanes * 6);
        for size in [16u64, 60, 250, 1000] {
            let ops = |lane: usize| (0..6).map(|i| malloc(lane * 6 + i, size)).collect();
            let program: Vec<_> = (0..lanes).map(ops).collect();
            let outcomes = heap.run(&program, Failures::Any);
            let served = outcomes.iter().flatten().filter(|o| o.code == 0).count() as u64;
            let room = suite::usable(&heap.pool);
            let possible = (room / size.next_power_of_two()).min(lanes as u64 * 6);
            assert!(
                served * 10 >= possible * 8,
                "{bytes}, {size}: {served} of {possible}"
            );
            heap.check_all();
            let slots = heap.taken();
            let frees: Vec<_> = slots.iter().map(|&slot| vec![free(slot)]).collect();
            heap.run(&frees, Failures::None);
            assert_eq!(used(&heap.pool), 0);
        }
    }
}

/// Two or three segments that change their class all the time, so that lanes held back at a buffer come
/// to a block that is of another class by then.
#[test]
fn a_claim_through_an_old_buffer_is_taken_back() {
    let config = GallatinConfig {
        segment_bytes: Some(1 << 10),
        slices: Some(16),
        largest_slice: Some(128),
        buffers: Some(1),
        least_buffers: Some(1),
    };
    for width in [1, 4, 16] {
        for seed in 0..300u64 {
            let site = Site::explored(width, seed);
            let lanes = width as usize * (2 + seed as usize % 3).max(32 / width as usize / 4);
            let mut heap = TestHeap::<Gallatin>::new(&site, suite::ROOMY, lanes);
            let bytes = (6 << 10) + seed % 3 * (1 << 10);
            heap.pool = site.device.reserve_with(bytes, &config).expect("a heap");
            heap.block_dim = width;
            let size = |lane: usize, i: usize| {
                let dice = warpheap_rt::sync::hash(
                    seed as u32 ^ ((lane / width as usize) << 8 | i) as u32,
                );
                [16, 64, 128][dice as usize % 3]
            };
            let ops = |lane| (0..8).flat_map(move |i| [malloc(lane, size(lane, i)), free(lane)]);
            let program: Vec<_> = (0..lanes).map(|lane| ops(lane).collect()).collect();
            heap.run(&program, Failures::Any);
            let usage = heap.pool.stats().expect("stats").usage;
            assert_eq!(usage.used_bytes, 0, "width {width}, seed {seed}: {usage:?}");
            let whole = layout::bytes(suite::usable(&heap.pool) as usize);
            let block = heap.pool.malloc(whole);
            assert!(block.is_ok(), "width {width}, seed {seed}: {usage:?}");
        }
    }
}

#[test]
fn the_papers_settings_hold() {
    // Segments of 16 MiB, 4096 slices to a block, slices up to 4096 bytes, larger ones a block of 64 KiB.
    let config = GallatinConfig {
        segment_bytes: Some(16 << 20),
        slices: Some(4096),
        largest_slice: Some(4096),
        buffers: Some(128),
        least_buffers: Some(4),
    };
    let site = Site::host(32);
    let pool: Pool<Gallatin> = site.device.reserve_with(80 << 20, &config).expect("a heap");
    for (bytes, taken) in [
        (16, 16),
        (4096, 4096),
        (4097, 64 << 10),
        (100 << 10, 128 << 10),
        (9 << 20, 16 << 20),
        (17 << 20, 32 << 20),
    ] {
        let layout = layout::bytes(bytes);
        let block = pool.malloc(layout).expect("there is room");
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(
            (usage.used_bytes, usage.live_blocks),
            (taken, Some(1)),
            "{bytes}"
        );
        free_all(&pool, vec![block], layout);
    }
}

/// Many warps that want another block for the same buffer at the same time use up no more memory than they
/// ask for: half of the heap must do.
#[test]
fn teams_that_wait_for_a_block_tie_up_none() {
    let config = GallatinConfig {
        segment_bytes: Some(16 << 10),
        slices: Some(64),
        largest_slice: Some(256),
        buffers: Some(1),
        least_buffers: Some(1),
    };
    for seed in 0..60u64 {
        let width = [1, 4, 8][seed as usize % 3];
        let site = Site::explored(width, seed);
        let lanes = 64 * width as usize;
        let mut heap = TestHeap::<Gallatin>::new(&site, suite::ROOMY, lanes * 2);
        // Slices of 256 bytes: 64 to a segment, so that each segment is a block.
        let bytes = (lanes as u64 * 2 * 256 * 2).max(8 * (16 << 10)) + (64 << 10);
        heap.pool = site.device.reserve_with(bytes, &config).expect("a heap");
        heap.block_dim = width;
        let ops = |lane| vec![malloc(lane * 2, 256), malloc(lane * 2 + 1, 256)];
        let program: Vec<_> = (0..lanes).map(ops).collect();
        heap.run(&program, Failures::None);
    }
}

/// In lock step the same team is always the first to come to a new block and the same one the last: it finds
/// the block spent, and the buffer in others' hands, each time. It is served all the same, and no lane is told
/// of contention in a heap with so much room.
#[test]
fn whoever_always_comes_too_late_gets_a_block_for_itself() {
    // One buffer, and blocks of half a warp.
    let config = GallatinConfig {
        segment_bytes: Some(128 << 10),
        slices: Some(16),
        largest_slice: Some(8 << 10),
        buffers: Some(1),
        least_buffers: Some(1),
    };
    for seed in 0..30 {
        let width = 32;
        let site = Site::explored(width, seed);
        let lanes = 64 * width as usize;
        let mut heap = TestHeap::<Gallatin>::new(&site, suite::ROOMY, lanes);
        heap.pool = (site.device)
            .reserve_with(suite::ROOMY, &config)
            .expect("a heap");
        heap.block_dim = width;
        let ops = |lane| vec![malloc(lane, 1024), free(lane), malloc(lane, 1024)];
        let program: Vec<_> = (0..lanes).map(ops).collect();
        heap.run(&program, Failures::None);
    }
}
