//! Hash sets, and hash maps with lists of values.

use std::collections::{HashMap, HashSet};
use warpheap::{DeviceVec, LaunchConfig};
use warpheap_container_tests::assert_empty;
use warpheap_container_tests::sets::Site;
use warpheap_rt::adaptor::Failing;
use warpheap_rt::device::{HeapHashSet, HeapMultiMap, RandomWalkMalloc};

/// A set of keys of two words, of which so many lanes bring some twice.
fn sets(site: &Site, lanes: u32, pool_bytes: u64) {
    let (device, kernels) = (&site.device, &site.kernels);
    let pool = site.heap::<RandomWalkMalloc>(pool_bytes);
    let set = DeviceVec::<HeapHashSet<[u32; 2]>>::zeroed(device, 1).expect("a set");
    let count = DeviceVec::<u32>::zeroed(device, 1).expect("a count");
    let one = LaunchConfig::for_num_elems(1);
    kernels.set_own(&pool, one, &set, &count).expect("a set");
    let of = set.shared(0).expect("the set");
    let (columns, rows) = (40.min(lanes / 3), 80.min(lanes / 2));
    let keys: Vec<[u32; 2]> = (0..lanes).map(|i| [i % columns, i / rows]).collect();
    let listed = DeviceVec::from_slice(device, &keys).expect("keys");
    let answers = DeviceVec::<u32>::zeroed(device, keys.len()).expect("answers");
    let all = LaunchConfig::for_num_elems(keys.len() as u32);
    let ones = || {
        let answers = answers.to_vec().expect("answers");
        answers.iter().sum::<u32>() as usize
    };
    let distinct = keys.iter().collect::<HashSet<_>>().len();
    assert!(distinct < keys.len());
    kernels
        .set_insert(&pool, all, of.clone(), &listed, &answers)
        .expect("set_insert");
    assert_eq!(ones(), keys.len() - distinct);
    kernels
        .set_ask(&pool, all, of.clone(), &listed, &answers, 0)
        .expect("set_ask");
    assert_eq!(ones(), keys.len());
    let third = &keys[..lanes as usize / 3];
    let half = DeviceVec::from_slice(device, third).expect("keys");
    let removed = third.iter().collect::<HashSet<_>>().len();
    answers.fill_zero().expect("zeros");
    kernels
        .set_ask(&pool, all, of.clone(), &half, &answers, 1)
        .expect("set_ask");
    assert_eq!(ones(), removed);
    kernels
        .set_ask(&pool, all, of.clone(), &half, &answers, 0)
        .expect("set_ask");
    assert_eq!(ones(), 0);
    kernels.set_own(&pool, one, &set, &count).expect("the end");
    assert_eq!(
        count.to_vec().expect("the count")[0] as usize,
        distinct - removed
    );
    assert_empty(&pool);
}

/// A few hot keys and many cold ones: each gets all of its values.
fn multi_maps(site: &Site, pushes: u32, pool_bytes: u64) {
    let (device, kernels) = (&site.device, &site.kernels);
    let pool = site.heap::<RandomWalkMalloc>(pool_bytes);
    let map = DeviceVec::<HeapMultiMap<u32, u32>>::zeroed(device, 1).expect("a map");
    let counts = DeviceVec::<u32>::zeroed(device, 32).expect("counts");
    let few = LaunchConfig {
        grid_dim: 1,
        block_dim: 32,
    };
    kernels.multi_begin(&pool, few, &map).expect("a map");
    let of = map.shared(0).expect("the map");
    let keys: Vec<u32> = (0..pushes)
        .map(|i| if i % 3 == 0 { i % 5 } else { i % 701 })
        .collect();
    let values: Vec<u32> = (0..pushes).map(|i| i * 7).collect();
    let mut expected = HashMap::new();
    for (&key, &value) in keys.iter().zip(&values) {
        let [count, sum] = expected.entry(key).or_insert([0, 0u32]);
        *count += 1;
        *sum = sum.wrapping_add(value);
    }
    let pushed = DeviceVec::from_slice(device, &keys).expect("keys");
    let values = DeviceVec::from_slice(device, &values).expect("values");
    let all = LaunchConfig::for_num_elems(pushes);
    kernels
        .multi_push(&pool, all, of.clone(), &pushed, &values)
        .expect("multi_push");
    let asked: Vec<u32> = (0..800.min(pushes)).collect();
    let asked_on = DeviceVec::from_slice(device, &asked).expect("keys");
    let sums = DeviceVec::<[u32; 2]>::zeroed(device, asked.len()).expect("sums");
    let all = LaunchConfig::for_num_elems(asked.len() as u32);
    kernels
        .multi_sum(&pool, all, of, &asked_on, &sums)
        .expect("multi_sum");
    for (key, sum) in asked.iter().zip(sums.to_vec().expect("sums")) {
        assert_eq!(
            sum,
            expected.get(key).copied().unwrap_or([0, 0]),
            "key {key}"
        );
    }
    kernels.multi_own(&pool, few, &map, &counts).expect("free");
    assert_eq!(counts.to_vec().expect("counts").iter().sum::<u32>(), pushes);
    kernels.multi_end(&pool, few, &map).expect("the end");
    assert_empty(&pool);
}

/// The n-th request for memory is refused, for every n: one value is missing, no other.
fn multi_maps_run_out(site: &Site) {
    let (device, kernels) = (&site.device, &site.kernels);
    let few = LaunchConfig {
        grid_dim: 1,
        block_dim: 32,
    };
    let counts = DeviceVec::<u32>::zeroed(device, 32).expect("counts");
    let keys: Vec<u32> = (0..32).map(|i| i % 11).collect();
    let keys = DeviceVec::from_slice(device, &keys).expect("keys");
    let mut failures = 0;
    for n in 1..60 {
        let pool = site.heap::<Failing<RandomWalkMalloc>>(1 << 20);
        let map = DeviceVec::<HeapMultiMap<u32, u32>>::zeroed(device, 1).expect("a map");
        kernels.multi_begin(&pool, few, &map).expect("a map");
        let of = map.shared(0).expect("the map");
        Failing::refuse(&pool, n).expect("refuse");
        let failed = kernels.multi_push(&pool, few, of, &keys, &keys).is_err();
        Failing::refuse(&pool, 0).expect("refuse");
        failures += failed as u32;
        kernels.multi_own(&pool, few, &map, &counts).expect("free");
        let count: u32 = counts.to_vec().expect("counts").iter().sum();
        // A chunk that does not come may be wanted by several lanes.
        assert!(
            if failed { count < 32 } else { count == 32 },
            "{count} values, failed: {failed}"
        );
        kernels.multi_end(&pool, few, &map).expect("the end");
        assert_empty(&pool);
    }
    assert!(
        failures >= 11,
        "{failures}: no request of most keys was refused"
    );
}

fn everything(site: &Site) {
    sets(site, 3000, 4 << 20);
    multi_maps(site, if site.is_slow() { 4000 } else { 60_000 }, 8 << 20);
    multi_maps_run_out(site);
}

fn few(site: &Site) {
    sets(site, 24, 1 << 20);
    multi_maps(site, 40, 1 << 20);
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
}

warpheap_container_tests::explored!(everything);
warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
