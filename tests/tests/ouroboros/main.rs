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

use warpheap_api::host::{HostAlloc, Pool};
use warpheap_rt::host::OuroborosConfig;
use warpheap_tests::Site;
use warpheap_tests::blocks::{fill, free_all, room, used};

const POOL: u64 = 4 << 20;

type Settings = OuroborosConfig;

fn heap<A: HostAlloc<Config = Settings>>(bytes: u64, config: &Settings) -> Pool<A> {
    let site = Site::host(8);
    site.device.reserve_with(bytes, config).expect("a heap")
}
