//! Lanes of a warp allocate and free in different branches, through functions that are called.

use super::{Subject, roomy};
use crate::Site;
use warpheap_api::host::{BackendKind, DeviceVec, LaunchConfig, Pool};
use warpheap_rt::container::HeapVec;
use warpheap_test_kernels::branches::{DAMAGED, Held, LENGTHS, WRONG};

/// Bytes of the largest heap of these tests on a GPU.
const MOST_BYTES: u64 = 3 << 30;

/// Numbers of lanes: less than a block, some blocks, and as many as the device should have to do with.
fn lane_counts<A: Subject>(site: &Site) -> Vec<u32> {
    // Blocks that are larger than the least of what is asked for take more room.
    let most = (MOST_BYTES / (8 * A::LEAST_BLOCK.max(256))) as u32;
    match site.device.info().backend {
        BackendKind::Host => vec![32, 700],
        // Fewer than a block are a shape of their own, which is compiled for itself.
        _ if site.compiles_slowly() => vec![300],
        _ => [32, 1000, 65_537, (1 << 20) + 17]
            .into_iter()
            .filter(|&lanes| lanes <= most)
            .collect(),
    }
}

fn shape(lanes: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: lanes.div_ceil(96),
        block_dim: lanes.min(96),
    }
}

fn assert_empty<A: Subject>(pool: &Pool<A>) {
    if A::CAPS.frees {
        let usage = pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "everything was freed: {usage:?}");
    }
}

fn assert_right<A: Subject>(wrong: &DeviceVec<u32>, lanes: u32) {
    let wrong = wrong.to_vec().expect("counts");
    assert_eq!(
        (wrong[DAMAGED], wrong[LENGTHS]),
        (0, 0),
        "{} with {lanes} lanes: damaged elements, wrong lengths",
        A::NAME
    );
}

/// Each lane pushes to a vector of its own, in three branches, with lengths by a power law.
pub fn vectors<A: Subject>(site: &Site) {
    // A loop around a vector's growth takes a device that compiles slowly minutes for some allocators.
    if site.compiles_slowly() {
        return;
    }
    let device = &site.device;
    for lanes in lane_counts::<A>(site) {
        let most = match device.info().backend {
            BackendKind::Host => 200,
            // A vector doubles, so its last block is at most twice as large.
            _ => 10_000.min(A::CAPS.max_size / 8) as u32,
        };
        let bytes = match lanes {
            ..=1000 => roomy::<A>(4 * lanes as usize),
            _ => MOST_BYTES,
        };
        let pool = device.reserve::<A>(bytes).expect("the heap is made");
        for seed in 0..2 {
            let vectors = DeviceVec::<HeapVec<u32>>::zeroed(device, lanes as usize);
            let mut vectors = vectors.expect("vectors");
            let wrong = DeviceVec::<u32>::zeroed(device, WRONG).expect("counts");
            let kernels = &site.kernels;
            let pushed = kernels.push_in_branches(&pool, shape(lanes), &mut vectors, most, seed);
            if let Err(error) = pushed {
                panic!("{} with {lanes} lanes: {error}", A::NAME);
            }
            kernels
                .free_in_branches(&pool, shape(lanes), &mut vectors, &wrong, most, seed)
                .expect("nothing is allocated");
            assert_right::<A>(&wrong, lanes);
        }
        assert_empty(&pool);
    }
}

/// Lanes allocate in one branch and free in another, round after round, with sizes of all kinds.
pub fn blocks<A: Subject>(site: &Site) {
    let device = &site.device;
    for lanes in lane_counts::<A>(site) {
        let rounds = match site.compiles_slowly() {
            true => 6,
            false => 16,
        };
        let most = 700.min(A::CAPS.max_size) as u32;
        // What is never freed adds up.
        let kept = if A::CAPS.frees { 1 } else { rounds as usize };
        let bytes = match lanes {
            ..=1000 => roomy::<A>(2 * kept * lanes as usize),
            _ => MOST_BYTES.max(kept as u64 * lanes as u64 * 1024),
        };
        if bytes > device.info().max_buffer_bytes {
            continue;
        }
        let pool = device.reserve::<A>(bytes).expect("the heap is made");
        let none = Held {
            granule: 0,
            bytes: 0,
        };
        let held = DeviceVec::from_slice(device, &vec![none; lanes as usize]).expect("blocks");
        let wrong = DeviceVec::<u32>::zeroed(device, WRONG).expect("counts");
        for round in 0..rounds {
            let launched =
                site.kernels
                    .round_in_branches(&pool, shape(lanes), &held, &wrong, round, most);
            if let Err(error) = launched {
                panic!("{} with {lanes} lanes: {error}", A::NAME);
            }
        }
        assert_right::<A>(&wrong, lanes);
        let live = held.to_vec().expect("blocks");
        let live = live.iter().filter(|held| held.bytes != 0).count();
        assert!(
            live > lanes as usize / 4,
            "{live} of {lanes} lanes hold a block"
        );
    }
}
