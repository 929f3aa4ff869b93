//! Vectors sorted by their owners, by groups of lanes and by blocks.

use super::config;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpheap_api::host::{DeviceVec, LaunchConfig, Pool};
use warpheap_container_kernels::vec::Element;
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapVec;
use warpheap_rt::host::container::{free_vectors, read_vectors};

/// Vectors with the same values, as numbers, as numbers with a sign, and with their order beside them.
struct Unsorted {
    pool: Pool<RandomWalkMalloc>,
    numbers: DeviceVec<HeapVec<u32>>,
    signed: DeviceVec<HeapVec<i32>>,
    elements: DeviceVec<HeapVec<Element>>,
    values: Vec<Vec<u32>>,
}

impl Unsorted {
    /// Vectors of these lengths, each of numbers that are far apart, of few that come often, of sorted ones, or of those
    /// the other way round.
    fn new(site: &Site, lengths: impl Iterator<Item = u32>) -> Self {
        let mut dice = SmallRng::seed_from_u64(5);
        let vector = |(kind, len): (usize, u32)| -> Vec<u32> {
            let value = |i: u32| match kind % 4 {
                0 => dice.random(),
                1 => dice.random_range(0..5u32).wrapping_sub(2),
                2 => i,
                _ => len - i,
            };
            (0..len).map(value).collect()
        };
        let values: Vec<Vec<u32>> = lengths.enumerate().map(vector).collect();
        let mut starts = vec![0];
        for values in &values {
            starts.push(starts[starts.len() - 1] + values.len() as u32);
        }
        let device = &site.device;
        // In 4 MiB the long ones find no run of pages: `Exhausted`.
        let bytes = if site.is_slow() { 4 << 20 } else { 64 << 20 };
        let pool = site.heap::<RandomWalkMalloc>(bytes);
        let lanes = values.len();
        let mut numbers = DeviceVec::zeroed(device, lanes).expect("vectors");
        let mut signed = DeviceVec::zeroed(device, lanes).expect("vectors");
        let mut elements = DeviceVec::zeroed(device, lanes).expect("vectors");
        let all = DeviceVec::from_slice(device, &values.concat()).expect("values");
        let starts = DeviceVec::from_slice(device, &starts).expect("starts");
        let shape = config(lanes as u32, 16);
        let launch = site.kernels.load_vectors(
            &pool,
            shape,
            &mut numbers,
            &mut signed,
            &mut elements,
            &all,
            &starts,
        );
        launch.expect("loads");
        Unsorted {
            pool,
            numbers,
            signed,
            elements,
            values,
        }
    }

    /// The elements with their order, which tells equal ones apart.
    fn pairs(&self) -> Vec<Vec<Element>> {
        let mut order = 0..;
        let pairs = |values: &Vec<u32>| {
            values
                .iter()
                .copied()
                .zip(&mut order)
                .map(|(v, i)| [v, i])
                .collect()
        };
        self.values.iter().map(pairs).collect()
    }

    fn free(mut self) {
        // SAFETY: they are of this heap, and are used no more.
        unsafe {
            free_vectors(&self.pool, &mut self.numbers).expect("frees");
            free_vectors(&self.pool, &mut self.signed).expect("frees");
            free_vectors(&self.pool, &mut self.elements).expect("frees");
        }
        assert_empty(&self.pool);
    }
}

fn lengths(site: &Site) -> impl Iterator<Item = u32> + use<> {
    let most = if site.is_slow() { 300 } else { 20_000 };
    (0..40).chain([
        63,
        64,
        65,
        127,
        128,
        200,
        255,
        257,
        most,
        most + 1,
        most - 1,
        most + 2,
    ])
}

/// Each lane sorts its own.
pub fn own(site: &Site) {
    let mut all = Unsorted::new(site, lengths(site));
    let shape = config(all.values.len() as u32, 32);
    let launch = site
        .kernels
        .sort_vectors(&all.pool, shape, &mut all.numbers, &mut all.signed);
    launch.expect("sorts");
    let numbers = read_vectors(&all.pool, &all.numbers).expect("reads");
    let signed = read_vectors(&all.pool, &all.signed).expect("reads");
    for ((values, numbers), mut signed) in all.values.iter().zip(numbers).zip(signed) {
        let mut expected = values.clone();
        expected.sort_unstable();
        assert_eq!(numbers, expected);
        // By how large they are; of -2 and 2 either may come first.
        assert!(
            signed.is_sorted_by_key(|value| value.unsigned_abs()),
            "{signed:?}"
        );
        let mut expected: Vec<i32> = values.iter().map(|value| *value as i32).collect();
        expected.sort_unstable();
        signed.sort_unstable();
        assert_eq!(signed, expected);
    }
    all.free();
}

/// Groups of lanes sort one after the other.
pub fn in_groups(site: &Site) {
    sorted_in_groups(site, lengths(site), config(100, 50));
}

fn sorted_in_groups(site: &Site, lengths: impl Iterator<Item = u32>, shape: LaunchConfig) {
    let all = Unsorted::new(site, lengths);
    let next = DeviceVec::<u32>::zeroed(&site.device, 1).expect("a counter");
    let launch = site
        .kernels
        .sort_in_groups(&all.pool, shape, &all.elements, &next);
    launch.expect("sorts");
    let found = read_vectors(&all.pool, &all.elements).expect("reads");
    for (mut pairs, found) in all.pairs().into_iter().zip(found) {
        pairs.sort_unstable();
        assert_eq!(found, pairs);
    }
    all.free();
}

/// Each block sorts one.
pub fn in_blocks(site: &Site) {
    for block_dim in [1, 7, 64, 128] {
        sorted_in_blocks(site, lengths(site), block_dim);
    }
}

fn sorted_in_blocks(site: &Site, lengths: impl Iterator<Item = u32>, block_dim: u32) {
    let all = Unsorted::new(site, lengths);
    let shape = LaunchConfig {
        grid_dim: all.values.len() as u32,
        block_dim,
    };
    let launch = site.kernels.sort_in_blocks(&all.pool, shape, &all.numbers);
    launch.expect("sorts");
    let found = read_vectors(&all.pool, &all.numbers).expect("reads");
    for (values, found) in all.values.iter().zip(found) {
        let mut expected = values.clone();
        expected.sort_unstable_by_key(|value| !*value);
        assert_eq!(found, expected, "blocks of {block_dim}");
    }
    all.free();
}

/// A few short ones.
pub fn few(site: &Site) {
    let width = site.device.info().warp_width;
    let lengths = || [7, 0, 2, 13, 1].into_iter();
    sorted_in_groups(site, lengths(), config(width * 2, width + 1));
    sorted_in_blocks(site, lengths(), width.min(8) * 2);
}
