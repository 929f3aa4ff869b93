//! Pages larger than a chunk of the base instance.

use crate::{POOL, Settings, free_all, heap};
use warpheap_api::host::{BlockSize, DeviceError, HostAlloc};
use warpheap_api::{AllocError, layout};

for_variants! {
    larger_instances: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
}

fn larger_instances<A: HostAlloc<Config = Settings>>() {
    let config = Settings {
        instances: Some(3),
        instance_step: 2,
        ..Settings::default()
    };
    // Chunks of 8, 32 and 128 KiB.
    let pool = heap::<A>(POOL, &config);
    for (bytes, page, chunk) in [
        (8192, 8192, 8u64 << 10),
        (8193, 16 << 10, 32 << 10),
        (32 << 10, 32 << 10, 32 << 10),
        (40_000, 64 << 10, 128 << 10),
        (128 << 10, 128 << 10, 128 << 10),
    ] {
        let layout = layout::aligned(bytes, (page as usize).min(64 << 10));
        let block = pool.malloc(layout).expect("there is room");
        assert_eq!(block.byte_offset(0) % layout.align() as u64, 0);
        let usage = pool.stats().expect("stats").usage;
        let class = usage.classes.iter().find(|class| class.live_blocks == 1);
        let class = class.expect("the block's class");
        assert_eq!(class.block, BlockSize::Bytes(page));
        assert!(class.committed_bytes >= chunk && class.committed_bytes <= chunk + (8 << 10));
        free_all(&pool, vec![block], layout);
    }
    match pool.malloc(layout::bytes((128 << 10) + 1)) {
        Err(DeviceError::Heap { cause, .. }) => assert_eq!(cause, AllocError::Exhausted),
        other => panic!("{other:?}"),
    }
    let most = A::CAPS.max_size as usize;
    match pool.malloc(layout::bytes(most + 1)) {
        Err(DeviceError::Heap { cause, .. }) => assert_eq!(cause, AllocError::Unsupported),
        other => panic!("{other:?}"),
    }
}
