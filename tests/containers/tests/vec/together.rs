//! Vectors that groups of lanes, or blocks, build together.

use super::config;
use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_container_kernels::vec::{Element, PushInBlocksEntry, PushInGroupsEntry, scattered};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapVec;
use warpheap_rt::host::container::{free_vectors, read_vectors};

const EXHAUSTED: u32 = 1;

/// Groups build vectors of so many rounds each; how many of them ran out of memory.
fn push_in_groups<A: HostAlloc + PushInGroupsEntry>(
    site: &Site,
    pool: &Pool<A>,
    rounds: &[u32],
    shape: LaunchConfig,
) -> usize {
    let device = &site.device;
    let mut vectors = DeviceVec::<HeapVec<Element>>::zeroed(device, rounds.len()).expect("vectors");
    let mut counts = DeviceVec::<Element>::zeroed(device, rounds.len()).expect("counts");
    let given = DeviceVec::from_slice(device, rounds).expect("rounds");
    let next = DeviceVec::<u32>::zeroed(device, 1).expect("a counter");
    let launch = site
        .kernels
        .push_in_groups(pool, shape, &mut vectors, &mut counts, &given, &next);
    launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
    let found = read_vectors(pool, &vectors).expect("reads");
    let mut refused = 0;
    let counts = counts.to_vec().expect("counts");
    for (v, (found, [lanes, code])) in found.into_iter().zip(counts).enumerate() {
        let mut expected: Vec<Element> = (0..rounds[v])
            .flat_map(|round| (0..lanes).map(move |rank| [v as u32, round << 8 | rank]))
            .collect();
        if code != 0 {
            // Whole rounds are there, and not all of them.
            assert_eq!((code, found.len() as u32 % lanes), (EXHAUSTED, 0));
            assert!(found.len() < expected.len());
            expected.truncate(found.len());
            refused += 1;
        }
        expected.reverse();
        assert_eq!(found, expected, "vector {v}, of {lanes} lanes");
    }
    // SAFETY: they are of this heap, and are used no more.
    unsafe { free_vectors(pool, &mut vectors) }.expect("frees");
    assert_empty(pool);
    refused
}

pub fn groups(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(16 << 20);
    let rounds: Vec<u32> = (0..60).map(|v| v % 23).collect();
    let refused = push_in_groups(site, &pool, &rounds, config(300, 90));
    assert_eq!(refused, 0);
}

pub fn groups_run_out(site: &Site) {
    let rounds = [5, 20, 0, 9];
    let mut n = 0;
    loop {
        n += 1;
        let pool = site.heap::<Failing<RandomWalkMalloc>>(1 << 20);
        Failing::refuse(&pool, n).expect("refuses");
        let refused = push_in_groups(site, &pool, &rounds, config(40, 40));
        assert!(refused <= 1);
        if refused == 0 {
            break;
        }
    }
    assert!(n > 3, "only {} requests", n - 1);
}

/// Blocks build vectors and sort them; whether they could.
fn push_in_blocks<A: HostAlloc + PushInBlocksEntry>(
    site: &Site,
    pool: &Pool<A>,
    shape: LaunchConfig,
    rounds: u32,
) -> bool {
    let device = &site.device;
    let number = shape.grid_dim as usize;
    let mut vectors = DeviceVec::<HeapVec<u32>>::zeroed(device, number).expect("vectors");
    let launched = site
        .kernels
        .push_in_blocks(pool, shape, &mut vectors, rounds, false);
    let complete = match launched {
        Ok(_) => true,
        // All lanes of a block are told the same.
        Err(DeviceError::Kernel(failure)) => {
            assert_eq!(failure.by_cause, [shape.block_dim, 0, 0], "{failure}");
            false
        }
        Err(error) => panic!("{}: {error}", A::NAME),
    };
    let mut expected: Vec<u32> = (0..rounds)
        .flat_map(|round| (0..shape.block_dim).map(move |index| scattered(round, index)))
        .collect();
    expected.sort_unstable();
    for found in read_vectors(pool, &vectors).expect("reads") {
        if complete {
            assert_eq!(found, expected);
        } else {
            // Whole rounds, sorted.
            assert_eq!(found.len() as u32 % shape.block_dim, 0);
            assert!(found.is_sorted());
        }
    }
    // SAFETY: they are of this heap, and are used no more.
    unsafe { free_vectors(pool, &mut vectors) }.expect("frees");
    assert_empty(pool);
    complete
}

/// Blocks build vectors and give them back together.
fn free_in_blocks(site: &Site, pool: &Pool<RandomWalkMalloc>, shape: LaunchConfig, rounds: u32) {
    let number = shape.grid_dim as usize;
    let mut vectors = DeviceVec::<HeapVec<u32>>::zeroed(&site.device, number).expect("vectors");
    let kernels = &site.kernels;
    let freed = kernels.push_in_blocks(pool, shape, &mut vectors, rounds, true);
    freed.expect("there is memory");
    let found = read_vectors(pool, &vectors).expect("reads");
    assert_eq!(found, vec![Vec::<u32>::new(); number]);
    assert_empty(pool);
}

pub fn blocks(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(16 << 20);
    for block_dim in [1, 5, 32, 100] {
        let shape = LaunchConfig {
            grid_dim: 4,
            block_dim,
        };
        assert!(push_in_blocks(site, &pool, shape, 9));
        free_in_blocks(site, &pool, shape, 9);
    }
}

pub fn blocks_run_out(site: &Site) {
    let shape = LaunchConfig {
        grid_dim: 2,
        block_dim: 20,
    };
    let mut n = 0;
    loop {
        n += 1;
        let pool = site.heap::<Failing<RandomWalkMalloc>>(1 << 20);
        Failing::refuse(&pool, n).expect("refuses");
        if push_in_blocks(site, &pool, shape, 6) {
            break;
        }
    }
    assert!(n > 2 * 3, "only {} requests", n - 1);
}

/// Two blocks or groups, few rounds.
pub fn few(site: &Site) {
    let width = site.device.info().warp_width;
    let pool = site.heap::<RandomWalkMalloc>(1 << 20);
    let shape = config(width * 2, width + 1);
    assert_eq!(push_in_groups(site, &pool, &[3, 1, 2], shape), 0);
    let shape = LaunchConfig {
        grid_dim: 2,
        block_dim: width.min(8) * 2,
    };
    assert!(push_in_blocks(site, &pool, shape, 3));
    free_in_blocks(site, &pool, shape, 2);
}
