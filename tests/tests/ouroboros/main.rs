//! What the six variants of Ouroboros promise beyond the suite, and what fails in published codes: sizes from
//! 512 bytes on the virtualised chunk queue, mixed sizes on the linked one, churn on page queues, full heaps on
//! all of them, warps of fewer than 32 lanes.

/// Makes tests of generic functions for variants.
macro_rules! for_variants {
    ($($name:ident: $($variant:ident),*;)*) => {$(
        #[allow(non_snake_case)]
        mod $name {
            $(
                #[test]
                fn $variant() {
                    super::$name::<warpheap_rt::alloc::$variant>();
                }
            )*
        }
    )*};
}

mod enlarged;
mod full;
mod large;
mod load;
mod settings;
mod two_kinds;

use warpheap_api::host::{DeviceError, HostAlloc, Pool};
use warpheap_api::{AllocError, DevicePtr, Layout};
use warpheap_rt::host::OuroborosConfig;
use warpheap_tests::Site;

const POOL: u64 = 4 << 20;

type Settings = OuroborosConfig;

fn heap<A: HostAlloc<Config = Settings>>(bytes: u64, config: &Settings) -> Pool<A> {
    let site = Site::host(8);
    site.device.reserve_with(bytes, config).expect("a heap")
}

/// Allocates blocks of this layout until the heap has none; a lane alone never contends.
fn fill<A: HostAlloc>(pool: &Pool<A>, layout: Layout) -> Vec<DevicePtr<u8>> {
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

fn free_all<A: HostAlloc>(pool: &Pool<A>, blocks: Vec<DevicePtr<u8>>, layout: Layout) {
    for block in blocks {
        // SAFETY: the blocks came from this heap with this layout, and nobody uses them.
        unsafe { pool.free(block, layout) }.expect("a free");
    }
}

fn used<A: HostAlloc>(pool: &Pool<A>) -> u64 {
    pool.stats().expect("stats").usage.used_bytes
}

fn room<A: HostAlloc>(pool: &Pool<A>) -> u64 {
    pool.bytes() - pool.metadata_bytes()
}
