//! What only ScatterAlloc promises: its settings, super blocks that are added between launches, pages
//! that serve another size once they are empty.

use warpheap_api::host::{DeviceError, Pool};
use warpheap_api::{AllocError, DevicePtr, header, layout};
use warpheap_rt::alloc::ScatterAlloc;
use warpheap_rt::host::ScatterConfig;
use warpheap_tests::Site;

/// Super blocks of 64 KiB, regions of four pages: everything happens in a heap of 1 MiB.
fn small() -> ScatterConfig {
    ScatterConfig {
        super_block_bytes: 64 << 10,
        region_pages: 4,
        ..ScatterConfig::default()
    }
}

fn heap(config: &ScatterConfig) -> Pool<ScatterAlloc> {
    let site = Site::host(4);
    site.device
        .reserve_with(1 << 20, config)
        .expect("a heap of 1 MiB")
}

/// Allocates blocks of `bytes` until the heap has none.
fn fill(pool: &Pool<ScatterAlloc>, bytes: usize) -> Vec<DevicePtr<u8>> {
    let mut blocks = Vec::new();
    loop {
        match pool.malloc(layout::bytes(bytes)) {
            Ok(block) => blocks.push(block),
            Err(DeviceError::Heap { cause, .. }) => {
                assert_eq!(cause, AllocError::Exhausted);
                return blocks;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn free_all(pool: &Pool<ScatterAlloc>, blocks: Vec<DevicePtr<u8>>, bytes: usize) {
    for block in blocks {
        // SAFETY: the blocks came from this heap with this layout, and nobody uses them.
        unsafe { pool.free(block, layout::bytes(bytes)) }.expect("a free");
    }
}

#[test]
fn super_blocks_are_added_between_launches() {
    let config = ScatterConfig {
        super_blocks: Some(2),
        reserved: Some(0),
        ..small()
    };
    let pool = heap(&config);
    assert_eq!(fill(&pool, 4096).len(), 32, "two super blocks of 16 pages");
    assert_eq!(ScatterAlloc::add_super_blocks(&pool, 3).ok(), Some(5));
    assert_eq!(fill(&pool, 4096).len(), 48, "three more");
    let all = ScatterAlloc::add_super_blocks(&pool, 1000).expect("it writes a word");
    assert!(all < 17, "no more than the pool has room for: {all}");
    assert!(fill(&pool, 4096).len() > 100);
}

#[test]
fn every_page_is_used_whatever_the_levels_say() {
    for reserved in [0, 4] {
        let config = ScatterConfig {
            reserved: Some(reserved),
            ..small()
        };
        let pool = heap(&config);
        let pages = (pool.bytes() - pool.metadata_bytes()) / 4096;
        for bytes in [16, 4096, 100, 2048] {
            let blocks = fill(&pool, bytes);
            let chunks = 256 / bytes.div_ceil(16);
            assert_eq!(blocks.len() as u64, pages * chunks as u64, "{bytes} bytes");
            free_all(&pool, blocks, bytes);
        }
    }
}

#[test]
fn a_heap_that_was_emptied_has_the_metadata_of_a_fresh_one() {
    let config = small();
    let metadata = |pool: &Pool<ScatterAlloc>| {
        let bytes = pool.metadata_bytes() as usize & !4095;
        let mut words = vec![0u8; bytes];
        let buffer = &pool.raw().buffer;
        buffer.read(0, &mut words).expect("the front of the heap");
        // Without the counts of failures and the active super block.
        words.split_off((header::HEADER_WORDS + 16 * 32) * 4)
    };
    let pool = heap(&config);
    let fresh = metadata(&pool);
    for bytes in [16, 48, 500, 3000, 9000] {
        let blocks = fill(&pool, bytes);
        assert!(metadata(&pool) != fresh);
        free_all(&pool, blocks, bytes);
        assert!(metadata(&pool) == fresh, "after blocks of {bytes} bytes");
    }
}

#[test]
fn a_request_takes_a_larger_chunk_only_within_max_frag() {
    let fits = |max_frag, bytes: usize| {
        let config = ScatterConfig {
            max_frag,
            super_blocks: Some(1),
            reserved: Some(0),
            ..small()
        };
        let pool = heap(&config);
        // One chunk of 256 bytes on every page, the rest of the page free.
        let mut blocks = fill(&pool, 256);
        blocks.sort_by_key(|block| block.granule());
        let rest = blocks.into_iter().enumerate().filter(|(i, _)| i % 16 != 0);
        free_all(&pool, rest.map(|(_, block)| block).collect(), 256);
        pool.malloc(layout::bytes(bytes)).is_ok()
    };
    assert!(fits(200, 128) && !fits(200, 112));
    assert!(fits(400, 64) && !fits(400, 48));
    assert!(fits(100, 256) && !fits(100, 240));
    assert!(!fits(6400, 272), "a smaller chunk never");
}

#[test]
fn runs_of_pages_cross_super_blocks_and_come_back() {
    let pool = heap(&small());
    let pages = (pool.bytes() - pool.metadata_bytes()) / 4096;
    let whole = layout::bytes(pages as usize * 4096);
    for _ in 0..2 {
        let block = pool.malloc(whole).expect("all pages as one run");
        assert!(pool.malloc(layout::bytes(1)).is_err(), "nothing is left");
        // SAFETY: the block came from this heap with this layout.
        unsafe { pool.free(block, whole) }.expect("a free");
    }
    let aligned = layout::aligned(5000, 1 << 16);
    let block = pool.malloc(aligned).expect("two aligned pages");
    assert_eq!(block.byte_offset(0) % (1 << 16), 0);
}
