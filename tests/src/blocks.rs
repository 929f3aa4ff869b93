//! Blocks that the host allocates one by one.

use warpheap_api::host::{DeviceError, HostAlloc, Pool};
use warpheap_api::{AllocError, DevicePtr, Layout, layout};

/// Allocates blocks of this layout until the heap has none.
pub fn fill<A: HostAlloc>(pool: &Pool<A>, layout: Layout) -> Vec<DevicePtr<u8>> {
    let mut blocks = Vec::new();
    loop {
        match pool.malloc(layout) {
            Ok(block) => blocks.push(block),
            Err(DeviceError::Heap { cause, .. }) => {
                assert_eq!(cause, AllocError::Exhausted, "{}: {layout:?}", A::NAME);
                return blocks;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Frees blocks of this layout.
pub fn free_all<A: HostAlloc>(pool: &Pool<A>, blocks: Vec<DevicePtr<u8>>, layout: Layout) {
    for block in blocks {
        // SAFETY: the blocks came from this heap with this layout, and nobody uses them.
        unsafe { pool.free(block, layout) }.expect("a free");
    }
}

/// Bytes that are in use.
pub fn used<A: HostAlloc>(pool: &Pool<A>) -> u64 {
    pool.stats().expect("stats").usage.used_bytes
}

/// Bytes of the pool that are not metadata.
pub fn room<A: HostAlloc>(pool: &Pool<A>) -> u64 {
    pool.bytes() - pool.metadata_bytes()
}

/// Alignments to 64 KiB are kept, of three blocks of each size, and greater ones refused.
pub fn keeps_alignments<A: HostAlloc>(pool: &Pool<A>) {
    for shift in 0..=16 {
        let mut all = Vec::new();
        for bytes in [1, 100, 5000, 70_000] {
            let layout = layout::aligned(bytes, 1 << shift);
            for _ in 0..3 {
                let block = pool.malloc(layout).expect("there is room");
                assert_eq!(block.byte_offset(0) % (1 << shift), 0, "{layout:?}");
                all.push((block, layout));
            }
        }
        for (block, layout) in all {
            free_all(pool, vec![block], layout);
        }
        assert_eq!(used(pool), 0);
    }
    assert!(pool.malloc(layout::aligned(1, 128 << 10)).is_err());
}
