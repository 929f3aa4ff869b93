//! CUDA's own malloc: contents, alignment, failures, and arenas over it. Tested on CUDA alone; elsewhere it
//! is refused (`lists`).

use warpheap_api::host::{DeviceVec, LaunchConfig};
use warpheap_rt::alloc::CudaMalloc;
use warpheap_test_kernels::arena::{ArenaPlan, HAND_OVER};
use warpheap_test_kernels::cuda_malloc::{DAMAGED, FAILED, SERVED};
use warpheap_tests::Site;
use warpheap_tests::arena::Run;

/// The heap lies elsewhere: a pool holds the header alone.
const POOL: u64 = 1 << 16;

#[test]
fn blocks_are_apart_and_aligned() {
    let Some(site) = Site::cuda() else { return };
    let pool = site.device.reserve::<CudaMalloc>(POOL).expect("a pool");
    for (blocks, rounds, most) in [(1, 20, 300), (64, 5, 100), (8, 3, 2000)] {
        let counts = DeviceVec::<u32>::zeroed(&site.device, 5).expect("counts");
        let config = LaunchConfig {
            grid_dim: blocks,
            block_dim: 96,
        };
        site.kernels
            .cuda_rounds(&pool, config, &counts, rounds, most)
            .expect("it runs");
        let counts = counts.to_vec().expect("counts");
        assert_eq!(counts[DAMAGED], 0);
        assert_eq!(counts[FAILED + 2] + counts[FAILED + 3], 0, "{counts:?}");
        let all = 2 * blocks * 96 * rounds;
        assert_eq!(counts[SERVED] + counts[FAILED + 1], all);
        assert!(counts[SERVED] > 0, "{counts:?}");
    }
}

#[test]
fn what_the_heap_cannot_hold_is_exhausted() {
    let Some(site) = Site::cuda() else { return };
    let pool = site.device.reserve::<CudaMalloc>(POOL).expect("a pool");
    let counts = DeviceVec::<u32>::zeroed(&site.device, 5).expect("counts");
    let config = LaunchConfig {
        grid_dim: 1,
        block_dim: 1,
    };
    // Most of these are of gigabytes, more than the heap is set to for tests.
    site.kernels
        .cuda_rounds(&pool, config, &counts, 8, u32::MAX)
        .expect("it runs");
    let failures = pool.stats().expect("stats").failures;
    let counts = counts.to_vec().expect("counts");
    assert_eq!(failures[0], counts[FAILED + 1]);
    assert!(failures[0] > 0, "{counts:?}");
}

#[test]
fn arenas_lie_over_it() {
    let Some(site) = Site::cuda() else { return };
    let plan = ArenaPlan {
        rounds: 3,
        each: 5,
        least: 1,
        range: 300,
        aligns: 3,
        seed: 7,
        absent: 1,
        finish: HAND_OVER,
    };
    for super_block_bytes in [32 << 10, 0] {
        let mut run = Run::<CudaMalloc>::new(&site, POOL, super_block_bytes, 640, plan.each);
        let (rows, blocks) = run.rounds(plan);
        assert!(run.judge(&rows, &blocks, false) > 0);
        let (rows, _) = run.resumes(plan);
        run.judge(&rows, &[], false);
        assert_eq!(run.counts().misuses, 0);
        assert_eq!(run.counts().open, Some(0));
    }
}
