//! What only the baselines promise: the first fit, merging, other multiprocessors' bins; places one behind
//! the other; their settings.

use warpheap_api::host::{DeviceError, HostAlloc, PlanError, Pool};
use warpheap_api::{AllocError, DevicePtr, layout};
use warpheap_rt::adaptor::Counted;
use warpheap_rt::alloc::{CudaMalloc, DirectOutput, MpList, SizeList};
use warpheap_rt::host::{DirectOutputConfig, ListsConfig};
use warpheap_tests::Site;

const POOL: u64 = 1 << 20;

fn heap<A: HostAlloc>(config: &A::Config) -> Pool<A> {
    let site = Site::host(4);
    site.device
        .reserve_with(POOL, config)
        .expect("a heap of 1 MiB")
}

fn malloc<A: HostAlloc>(pool: &Pool<A>, bytes: u64) -> DevicePtr<u8> {
    pool.malloc(layout::bytes(bytes as usize))
        .expect("there is room")
}

fn free<A: HostAlloc>(pool: &Pool<A>, block: DevicePtr<u8>, bytes: u64) {
    // SAFETY: the block came from this heap with this size, and nobody uses it.
    unsafe { pool.free(block, layout::bytes(bytes as usize)) }.expect("a free");
}

/// Allocates blocks of `bytes` until the heap has none.
fn fill<A: HostAlloc>(pool: &Pool<A>, bytes: u64) -> Vec<DevicePtr<u8>> {
    let mut blocks = Vec::new();
    loop {
        match pool.malloc(layout::bytes(bytes as usize)) {
            Ok(block) => blocks.push(block),
            Err(DeviceError::Heap { cause, .. }) => {
                assert_eq!(cause, AllocError::Exhausted);
                return blocks;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn room<A>(pool: &Pool<A>) -> u64
where
    A: HostAlloc,
{
    pool.bytes() - pool.metadata_bytes()
}

/// A freed block is used again before memory that never was, by the first request that fits, and is split.
fn first_fit<A: HostAlloc<Config = ListsConfig>>() {
    let pool = heap::<A>(&ListsConfig::default());
    let blocks: Vec<_> = (0..9).map(|i| malloc(&pool, 64 << (i % 3))).collect();
    for at in [2, 5] {
        free(&pool, blocks[at], 256);
    }
    let first = malloc(&pool, 100);
    assert!([blocks[2], blocks[5]].contains(&first));
    let second = malloc(&pool, 128);
    assert_eq!(
        second.granule(),
        first.granule() + 8,
        "the rest of the same block"
    );
    let third = malloc(&pool, 300);
    assert!(
        third.granule() > blocks[8].granule(),
        "none of 300 bytes is free"
    );
    let fourth = malloc(&pool, 256);
    assert!([blocks[2], blocks[5]].contains(&fourth) && fourth != first);
}

#[test]
fn lists_serve_the_first_fit() {
    first_fit::<SizeList>();
    first_fit::<MpList>();
}

/// Whatever the order in which small blocks are freed, the heap serves one large block afterwards.
fn merges<A: HostAlloc<Config = ListsConfig>>() {
    for order in 0..3 {
        let pool = heap::<A>(&ListsConfig::default());
        let mut blocks = fill(&pool, 1000);
        assert_eq!(blocks.len() as u64, room(&pool) / 1024);
        match order {
            0 => blocks.reverse(),
            1 => blocks.sort_by_key(|block| block.granule().wrapping_mul(0x9e37_79b1)),
            _ => {}
        }
        for block in blocks {
            free(&pool, block, 1000);
        }
        let whole = malloc(&pool, room(&pool));
        free(&pool, whole, room(&pool));
    }
}

#[test]
fn free_segments_are_merged() {
    merges::<SizeList>();
    merges::<MpList>();
}

/// One free stretch between blocks in use serves one block of its length, and not a longer one.
#[test]
fn a_stretch_between_blocks_is_found() {
    let pool = heap::<SizeList>(&ListsConfig::default());
    let blocks = fill(&pool, 640);
    // In order of address nothing behind a block is free when it is freed: the sweep has to merge them.
    for &block in &blocks[40..60] {
        free(&pool, block, 640);
    }
    let beyond = layout::bytes(20 * 640 + 1);
    assert!(pool.malloc(beyond).is_err());
    assert_eq!(malloc(&pool, 20 * 640), blocks[40]);
    assert!(pool.malloc(layout::bytes(1)).is_err() || room(&pool) % 640 != 0);
}

#[test]
fn units_are_as_large_as_was_set() {
    for unit_bytes in [64, 512, 4096] {
        let config = ListsConfig {
            unit_bytes,
            ..ListsConfig::default()
        };
        let pool = heap::<SizeList>(&config);
        let blocks = fill(&pool, 1);
        assert_eq!(blocks.len() as u64, room(&pool) / unit_bytes as u64);
    }
}

#[test]
fn places_follow_one_another() {
    let pool = heap::<DirectOutput>(&DirectOutputConfig { place_bytes: 128 });
    let sizes = [(1, 1), (128, 1), (129, 2), (1000, 8), (5, 1)];
    let mut next = malloc(&pool, 7).granule() + 8;
    for (bytes, places) in sizes {
        assert_eq!(malloc(&pool, bytes).granule(), next, "{bytes} bytes");
        next += places * 8;
    }
    let left = room(&pool) / 128 - 14;
    assert_eq!(fill(&pool, 128).len() as u64, left);
    assert_eq!(pool.stats().expect("stats").usage.used_bytes, room(&pool));
}

#[test]
fn cudas_malloc_is_refused_without_cuda() {
    let site = Site::host(4);
    let error = site
        .device
        .reserve::<CudaMalloc>(POOL)
        .expect_err("no CUDA");
    assert!(
        matches!(error, DeviceError::Plan(PlanError::OnlyOn { .. })),
        "{error}"
    );
    let counted = site.device.reserve::<Counted<CudaMalloc>>(POOL);
    assert!(counted.is_err());
}
