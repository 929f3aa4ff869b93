//! A heap that moves into a larger pool.

use crate::{Settings, fill, free_all, used};
use warpheap::Device;
use warpheap_api::host::{DeviceError, HostAlloc, Pool};
use warpheap_api::layout;
use warpheap_host::HostConfig;
use warpheap_rt::alloc::{
    OuroborosCS, OuroborosCVA, OuroborosCVL, OuroborosPS, OuroborosPVA, OuroborosPVL,
};

for_variants! {
    a_heap_moves_into_a_larger_pool: OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL;
}

fn a_heap_moves_into_a_larger_pool<A: Enlarge>() {
    let config = Settings {
        grows_to: 4 << 20,
        instances: Some(2),
        ..Settings::default()
    };
    // The emulator knows of blocks by their pool, and would not know them in the new one.
    let emulator = warpheap_host::open(HostConfig {
        warp_width: 8,
        check_blocks: Some(false),
        ..HostConfig::default()
    });
    let device = emulator.and_then(Device::adopt).expect("the emulator");
    let small = device.reserve_with::<A>(1 << 20, &config).expect("a heap");
    let layout = layout::bytes(100);
    let mut blocks = fill(&small, layout);
    let buffer = &small.raw().buffer;
    for (i, block) in (0u32..).zip(&blocks) {
        // SAFETY: nobody else has this memory.
        unsafe { buffer.write(block.byte_offset(0), &i.to_ne_bytes()) }.expect("a word");
    }
    let large = A::enlarge(&small, 3 << 20, &config).expect("a larger pool");
    let buffer = &large.raw().buffer;
    for (i, block) in (0u32..).zip(&blocks) {
        let mut word = [0; 4];
        buffer
            .read(block.byte_offset(0), &mut word)
            .expect("a word");
        assert_eq!(u32::from_ne_bytes(word), i);
    }
    assert_eq!(used(&large), used(&small));
    let more = fill(&large, layout);
    assert!(
        more.len() as u64 * 128 >= (2 << 20) * 9 / 10,
        "{}",
        more.len()
    );
    let mut all: Vec<_> = blocks
        .iter()
        .chain(&more)
        .map(|block| block.granule())
        .collect();
    all.sort_unstable();
    assert!(
        all.windows(2).all(|pair| pair[0] + 8 <= pair[1]),
        "blocks are disjoint"
    );
    blocks.extend(more);
    free_all(&large, blocks, layout);
    assert_eq!(used(&large), 0);
    for (bytes, config) in [
        (5 << 20, config.clone()),
        (512 << 10, config.clone()),
        (
            3 << 20,
            Settings {
                queues: 9,
                ..config.clone()
            },
        ),
    ] {
        assert!(
            A::enlarge(&small, bytes, &config).is_err(),
            "{bytes} {config:?}"
        );
    }
}

/// The call of each variant.
trait Enlarge: HostAlloc<Config = Settings> {
    fn enlarge(pool: &Pool<Self>, bytes: u64, config: &Settings)
    -> Result<Pool<Self>, DeviceError>;
}

macro_rules! enlarge {
    ($($variant:ident),*) => {$(
        impl Enlarge for $variant {
            fn enlarge(
                pool: &Pool<Self>,
                bytes: u64,
                config: &Settings,
            ) -> Result<Pool<Self>, DeviceError> {
                $variant::enlarged(pool, bytes, config)
            }
        }
    )*};
}

enlarge! { OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVA, OuroborosCVL }
