//! Vectors: against `std`'s, without memory, sorted, and built by lanes together.

mod model;
mod sorting;
mod together;

use warpheap_api::host::LaunchConfig;
use warpheap_container_tests::{Site, seeds};

/// So many lanes, in blocks of `block`.
fn config(lanes: u32, block: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: lanes.div_ceil(block),
        block_dim: block.min(lanes),
    }
}

fn everything(site: &Site) {
    model::grows_long(site);
    model::runs_out(site);
    sorting::own(site);
    sorting::in_groups(site);
    sorting::in_blocks(site);
    together::groups(site);
    together::groups_run_out(site);
    together::blocks(site);
    together::blocks_run_out(site);
}

/// What lanes do to each other's memory, small.
fn few(site: &Site) {
    model::grow_at_once(site);
    together::few(site);
    sorting::few(site);
}

mod host {
    use super::*;

    #[test]
    fn at_every_width() {
        for width in [1, 4, 8, 32, 64] {
            everything(&Site::host(width));
        }
    }

    #[test]
    fn like_a_vec_of_std() {
        model::proptest(&Site::host(4), 60);
        model::proptest(&Site::host(32), 60);
    }

    #[test]
    fn without_races() {
        for width in [1, 4, 32] {
            for seed in seeds(8) {
                few(&Site::modelled(width, seed));
            }
        }
    }
}

warpheap_container_tests::explored_few!(few);

#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod gpu {
    use super::*;

    fn everything(site: &Site) {
        super::everything(site);
        model::proptest(site, 20);
    }

    warpheap_container_tests::on_gpus!(everything);
}
