//! Hash maps: against `std`'s, under explored schedules, without memory, and with all lanes at one key.

mod collisions;
mod explored;
mod groups;
mod histories;
mod mixes;
mod tidying;
mod world;

use collisions::{collides, collides_in_slots};
use groups::{alike, asked_by_all, few_bring_branches, gives_branches_back, one_group};
use histories::{SHAPES, histories, history_kernels, late_change, step};
use mixes::{own_keys_come_and_go, reads_beside_sums, two_streams};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::HashMap;
use tidying::{ages, tidies};
use warpheap::LaunchConfig;
use warpheap_api::host::BackendKind;
use warpheap_container_tests::maps::Site;
use warpheap_container_tests::seeds;
use warpheap_history_kernels::histories::*;
use warpheap_rt::adaptor::Failing;
use warpheap_rt::device::{RandomWalkMalloc, WarpHeap};
use world::{Any, World};

const EXHAUSTED: u32 = 101;

/// The smallest size of a root that has slots.
const SLOTS: u32 = 7;

/// `n` different numbers, next to each other and far apart.
fn numbers(n: u32) -> Vec<u32> {
    (0..n)
        .map(|i| {
            if i % 2 == 0 {
                i
            } else {
                i.wrapping_mul(0x9e37_79b1) | 1
            }
        })
        .collect()
}

/// Every key twice, into a root that is too small: each is inserted once, found, listed once and freed.
fn grows<A: Any>(site: &Site, root_bits: u32) {
    let world = World::<A>::new(site, 8 << 20, root_bits);
    let count = if site.is_slow() { 6000 } else { 30_000 };
    let single = numbers(count);
    let keys: Vec<u32> = single.iter().chain(single.iter().rev()).copied().collect();
    let values: Vec<u32> = keys.iter().map(|key| !key).collect();
    let inserted = world.insert(&keys, &values);
    assert!(
        inserted.iter().all(|&result| result < 2),
        "an insertion failed"
    );
    let mut times = HashMap::new();
    for (key, result) in keys.iter().zip(&inserted) {
        *times.entry(*key).or_insert(0) += result;
    }
    assert!(
        times.values().all(|&n| n == 1),
        "a key was inserted twice, or lost"
    );
    assert_eq!(world.get(&keys), values);
    let absent: Vec<u32> = (0..100).map(|i| 2 * (count + i)).collect();
    assert_eq!(world.get(&absent), vec![NONE; 100]);
    let mut expected: Vec<[u32; 2]> = single.iter().map(|&key| [key, !key]).collect();
    expected.sort_unstable();
    for lanes in [1, 7, 64, 1024] {
        assert!(
            world.list(lanes) == expected,
            "{lanes} lanes list something else"
        );
    }
    // Many shares, fewer, then as few as the trie's root has slots.
    for lanes in [64, 5, 2] {
        world.clear(lanes);
        assert!(world.list(64).is_empty());
    }
    world.free();
}

/// All lanes at a few keys: nothing is lost of the sums.
fn adds<A: Any>(site: &Site, root_bits: u32) {
    let world = World::<A>::new(site, 4 << 20, root_bits);
    let lanes = if site.is_slow() { 4000u32 } else { 1 << 17 };
    let keys: Vec<u32> = (0..lanes)
        .map(|i| if i % 5 < 3 { 9 } else { i % 7 })
        .collect();
    let amounts: Vec<u32> = (0..lanes).map(|i| i % 100).collect();
    let fresh: u32 = world.add(&keys, &amounts).iter().sum();
    let mut sums = HashMap::new();
    for (key, amount) in keys.iter().zip(&amounts) {
        *sums.entry(*key).or_insert(0u32) += amount;
    }
    assert_eq!(fresh as usize, sums.len());
    let mut expected: Vec<[u32; 2]> = sums.iter().map(|(&key, &sum)| [key, sum]).collect();
    expected.sort_unstable();
    assert_eq!(world.list(3), expected);
    world.free();
}

/// The n-th request for memory is refused, for every n: that lane's key is not there, all others are. With `luck` another lane may
/// have brought what it asked for; then its key is there, too.
fn runs_out(site: &Site, root_bits: u32, keys: &[u32], least: u32, luck: bool) {
    let (mut n, mut refused) = (0, true);
    while refused {
        n += 1;
        let world = World::<Failing<RandomWalkMalloc>>::none(site, 1 << 20);
        Failing::refuse(&world.pool, n).expect("refuse");
        let one = LaunchConfig::for_num_elems(1);
        if site
            .kernels
            .map_new(&world.pool, one, &world.map, root_bits)
            .is_err()
        {
            assert!(world.map().is_none());
            assert_eq!(world.insert(&[1], &[1]), [103], "there is no map");
            assert_eq!(world.get(&[1]), [NONE]);
            world.free();
            continue;
        }
        let results = world.insert(keys, keys);
        let failed: Vec<u32> = keys
            .iter()
            .zip(&results)
            .filter(|pair| *pair.1 > 1)
            .map(|(&key, _)| key)
            .collect();
        assert!(
            failed.len() <= 1
                && results
                    .iter()
                    .all(|&result| result < 2 || result == EXHAUSTED)
        );
        refused = world.pool.stats().expect("stats").failures[0] != 0;
        assert!(failed.len() == refused as usize || (luck && failed.is_empty()));
        let expected: Vec<u32> = keys
            .iter()
            .map(|&key| if failed.contains(&key) { NONE } else { key })
            .collect();
        assert_eq!(world.get(keys), expected);
        assert_eq!(world.list(4).len(), keys.len() - failed.len());
        assert_eq!(world.insert(&failed, &failed), vec![1; failed.len()]);
        assert_eq!(world.get(keys), keys);
        world.free();
    }
    assert!(
        n > least,
        "only {n} requests: the test does not reach what it is for"
    );
}

/// [`runs_out`] for leaves and nodes, and for branches.
fn all_run_out(site: &Site) {
    let keys: Vec<u32> = numbers(24).iter().map(|key| key % 20_000).collect();
    runs_out(site, 1, &keys, 30, false);
    runs_out(site, SLOTS, &alike(0, 0, 150), 2, true);
    runs_out(site, SLOTS, &alike(5, 0, 150), 5, true);
}

/// Keys that are there come exactly once to lanes that list them, whatever others insert meanwhile.
fn lists_while_growing(site: &Site, rounds: u32) {
    for round in 0..rounds {
        let world = World::<WarpHeap>::new(site, 1 << 20, [1, SLOTS, SLOTS][round as usize % 3]);
        // In the trie, in slots that are far apart, in branches.
        let keys = match round % 3 {
            2 => alike(round / 3 % 2, 0, 140 + round),
            _ => numbers(20 + round % 10),
        };
        let (old, new) = keys.split_at(keys.len() / 3);
        world.insert(old, old);
        let lanes = (new.len() as u32).max(12) * (1 + round % 2);
        let pairs = world.list_while(lanes, new, 400);
        for key in old {
            let times = pairs.iter().filter(|pair| pair[0] == *key).count();
            assert_eq!(times, 1, "key {key} was listed {times} times");
        }
        for key in new {
            assert!(pairs.iter().filter(|pair| pair[0] == *key).count() <= 1);
        }
        world.free();
    }
}

/// Launch after launch of one kind of action, against `std`'s map.
fn model(site: &Site, cases: u32) {
    let batch = (
        0u32..4,
        prop::collection::vec((0u32..40, 0u32..1000), 1..30),
    );
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let tested = runner.run(
        &(0u32..9, prop::collection::vec(batch, 1..12)),
        |(root_bits, batches)| {
            let world = World::<WarpHeap>::new(site, 1 << 20, root_bits);
            let mut model = HashMap::new();
            for (kind, pairs) in batches {
                // A key once in a batch, so that the order of lanes does not matter.
                let pairs: HashMap<u32, u32> = pairs.into_iter().collect();
                let keys: Vec<u32> = pairs.keys().copied().collect();
                let values: Vec<u32> = pairs.values().copied().collect();
                let (results, kind) = match kind {
                    0 => (world.insert(&keys, &values), INSERT),
                    1 => (world.add(&keys, &values), ADD),
                    2 => (world.remove(&keys), REMOVE),
                    _ => (world.get(&keys), GET),
                };
                for ((&key, &value), &result) in keys.iter().zip(&values).zip(&results) {
                    let op = MapOp {
                        kind,
                        key,
                        also: 0,
                        value,
                    };
                    prop_assert_eq!(step(&mut model, op), result);
                }
                if kind == REMOVE {
                    world.tidy(1 + keys.len() as u32);
                }
                let mut expected: Vec<[u32; 2]> =
                    model.iter().map(|(&key, &value)| [key, value]).collect();
                expected.sort_unstable();
                prop_assert_eq!(world.list(5), expected);
            }
            world.free();
            Ok(())
        },
    );
    if let Err(error) = tested {
        panic!("{error}");
    }
}

/// All of it on one device.
fn everything(site: &Site) {
    for root_bits in [2, SLOTS, 12] {
        grows::<WarpHeap>(site, root_bits);
    }
    for root_bits in [0, SLOTS] {
        adds::<WarpHeap>(site, root_bits);
    }
    for root_bits in [3, SLOTS + 1] {
        tidies::<WarpHeap>(site, root_bits, &numbers(2000));
    }
    for levels in [0, 2] {
        tidies::<WarpHeap>(site, SLOTS, &alike(levels, 0, 1000));
    }
    for levels in [0, 1, 6] {
        one_group::<WarpHeap>(site, levels);
    }
    for root_bits in [2, SLOTS, 12] {
        own_keys_come_and_go(site, root_bits);
        reads_beside_sums(site, root_bits);
        two_streams(site, root_bits);
    }
    gives_branches_back(site);
    asked_by_all(site);
    few_bring_branches(site);
    ages(site);
    all_run_out(site);
    lists_while_growing(site, 10);
    collides(site);
    collides_in_slots(site);
    let kernels = history_kernels(site);
    let mut complete = 0;
    for seed in 0..30 {
        for shape in SHAPES {
            complete += histories(site, &kernels, seed, shape, false) as u32;
            complete += histories(site, &kernels, seed, shape, true) as u32;
        }
    }
    // On a GPU a lane may stand still in the middle of an action; in the emulator's run mode none does.
    let emulated = site.device.info().backend == BackendKind::Host;
    let least = if emulated { 180 } else { 171 };
    assert!(
        complete >= least,
        "only {complete} of 180 had no lane that gave up"
    );
}

mod host {
    use super::*;

    #[test]
    fn width_1() {
        everything(&Site::host(1));
    }
    #[test]
    fn width_4() {
        everything(&Site::host(4));
    }
    #[test]
    fn width_8() {
        everything(&Site::host(8));
    }
    #[test]
    fn width_32() {
        everything(&Site::host(32));
    }
    #[test]
    fn width_64() {
        everything(&Site::host(64));
    }
    #[test]
    fn like_a_map_of_std() {
        model(&Site::host(4), 60);
        model(&Site::host(32), 30);
    }
}

#[cfg(feature = "vulkan")]
mod vulkan {
    use super::*;

    #[test]
    fn on_the_device() {
        if let Some(site) = Site::vulkan() {
            everything(&site);
            model(&site, 10);
        }
    }
}

#[cfg(feature = "cuda")]
mod cuda {
    use super::*;

    #[test]
    fn on_the_device() {
        if let Some(site) = Site::cuda() {
            everything(&site);
            model(&site, 30);
            let kernels = history_kernels(&site);
            let mut complete = 0;
            for seed in 30..300 {
                let shape = SHAPES[seed as usize % 3];
                complete += histories(&site, &kernels, seed, shape, seed % 2 == 0) as u32;
            }
            assert!(
                complete > 250,
                "only {complete} of 270 had no lane that gave up"
            );
        }
    }
}
