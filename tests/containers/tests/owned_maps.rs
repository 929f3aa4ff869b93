//! Maps, sets and multimaps that the host owns: filled, read back, used by kernels, and dropped.

use std::collections::HashMap;
use warpheap::{
    DeviceHashMap, DeviceHashSet, DeviceMultiMap, DeviceVec, LaunchConfig, MapAlloc, Pool,
};
use warpheap_container_tests::assert_empty;
use warpheap_container_tests::sets::Site;
use warpheap_rt::device::{
    Gallatin, HeapData, OuroborosCVL, RandomWalkMalloc, ScatterAlloc, WarpHeap, WarpHeap32,
    WarpHeap64,
};

/// With words and more than words.
fn maps<A: MapAlloc>(site: &Site) {
    let pool = site.heap::<A>(8 << 20);
    let count = if site.is_slow() { 2000u32 } else { 50_000 };
    let pairs: Vec<([u32; 3], [u32; 2])> = (0..count).map(|i| ([i, i / 3, 7], [i, !i])).collect();
    for root_bits in [0, 6, 10] {
        let map = DeviceHashMap::<[u32; 3], [u32; 2], A>::new(&pool, root_bits).expect("a map");
        assert!(map.to_vec().expect("nothing").is_empty());
        map.fill(&[]).expect("fill");
        map.fill(&pairs[..1000]).expect("fill");
        map.fill(&pairs[500..]).expect("fill");
        assert_eq!(map.to_vec().expect("pairs").len(), pairs.len());
        assert_eq!(
            map.to_map().expect("a map"),
            pairs.iter().copied().collect()
        );
        drop(map);
        assert_empty(&pool);
    }
    let words = DeviceHashMap::<u32, u32, A>::from_pairs(&pool, &[(1, 2), (3, 4)]).expect("a map");
    words.fill(&[(3, 5)]).expect("fill");
    assert_eq!(
        words.to_map().expect("a map"),
        HashMap::from([(1, 2), (3, 5)])
    );
    drop(words);
    assert_empty(&pool);
    // More than there is room for: an error, and nothing stays.
    let pool = site.heap::<A>(256 << 10);
    let pairs: Vec<(u32, [u32; 15])> = (0..20_000).map(|i| (i, [i; 15])).collect();
    assert!(DeviceHashMap::<u32, [u32; 15], A>::from_pairs(&pool, &pairs).is_err());
    assert!(DeviceHashMap::<u32, u32, A>::new(&pool, 99).is_err());
    assert_empty(&pool);
}

/// Whole arrays of keys, of any width, with values in slots and in leaves, beside a map of `std`; and the same map with a larger root.
fn whole_arrays<K, V>(site: &Site, key: impl Fn(u32) -> K, value: impl Fn(u32) -> V)
where
    K: HeapData + Copy + Eq + std::hash::Hash + std::fmt::Debug,
    V: HeapData + Copy + PartialEq + std::fmt::Debug,
{
    let pool = site.heap::<WarpHeap>(4 << 20);
    let count = if site.is_slow() { 300u32 } else { 3000 };
    let keys: Vec<K> = (0..2 * count).map(&key).collect();
    for root_bits in [3, 6, 12] {
        let mut map = DeviceHashMap::<K, V, WarpHeap>::new(&pool, root_bits).expect("a map");
        let pairs: Vec<(K, V)> = (0..count).map(|i| (key(i), value(i))).collect();
        map.fill(&pairs).expect("fill");
        let mut model: HashMap<K, V> = pairs.into_iter().collect();
        let check = |map: &DeviceHashMap<K, V, WarpHeap>, model: &HashMap<K, V>| {
            let expected: Vec<Option<V>> = keys.iter().map(|key| model.get(key).copied()).collect();
            assert_eq!(map.get_all(&keys).expect("values"), expected);
            assert_eq!(map.to_map().expect("a map"), *model);
        };
        check(&map, &model);
        // Twice as many as are there, and some of them again.
        for gone in [&keys[..count as usize / 2], &keys[count as usize / 3..]] {
            let removed = gone.iter().filter(|key| model.remove(*key).is_some());
            let removed = removed.count();
            assert_eq!(map.remove_all(gone).expect("removed"), removed);
            check(&map, &model);
        }
        for i in 0..count {
            model.insert(key(i), value(i + 1));
        }
        let pairs: Vec<(K, V)> = model.iter().map(|(key, value)| (*key, *value)).collect();
        map.fill(&pairs).expect("fill");
        check(&map, &model);
        map.reserve(count as usize).expect("a larger root");
        check(&map, &model);
        map.reserve(1).expect("nothing to do");
        assert_eq!(map.remove_all(&[]).expect("nothing"), 0);
        assert!(map.get_all(&[]).expect("nothing").is_empty());
        drop(map);
        assert_empty(&pool);
    }
    let mut small = DeviceHashMap::<K, V, WarpHeap>::with_capacity(&pool, 10).expect("a map");
    small.fill(&[(key(1), value(1))]).expect("fill");
    assert!(small.reserve(1 << 25).is_err(), "more than the heap has");
    assert_eq!(small.get_all(&[key(1)]).expect("values"), [Some(value(1))]);
}

fn arrays(site: &Site) {
    whole_arrays(site, |i| i.wrapping_mul(0x9e37_79b1), |i| i);
    whole_arrays(site, |i| [i, 7], |i| i as f32);
    whole_arrays(site, |i| [i / 3, i, i % 5], |i| [i, !i, 3]);
}

/// So many keys of two words, and as many as a kernel brings, of which half are there.
fn sets(site: &Site, number: u32, brought: u32, pool_bytes: u64) {
    let pool = site.heap::<RandomWalkMalloc>(pool_bytes);
    let keys: Vec<[u32; 2]> = (0..2 * number).map(|i| [i / 2, 5]).collect();
    let set = DeviceHashSet::from_keys(&pool, &keys).expect("a set");
    assert_eq!(
        sorted(set.to_vec().expect("keys")),
        (0..number).map(|i| [i, 5]).collect::<Vec<_>>()
    );
    let first = number - brought / 2;
    let more: Vec<[u32; 2]> = (first..first + brought).map(|i| [i, 5]).collect();
    let answers = DeviceVec::<u32>::zeroed(&site.device, more.len()).expect("answers");
    let listed = DeviceVec::from_slice(&site.device, &more).expect("keys");
    let all = LaunchConfig::for_num_elems(more.len() as u32);
    let launch = site
        .kernels
        .set_insert(&pool, all, set.set(), &listed, &answers);
    launch.expect("set_insert");
    let there = answers.to_vec().expect("answers").iter().sum::<u32>();
    assert_eq!(there, brought / 2);
    set.fill(&[[7, 7]]).expect("fill");
    let all = (number + brought / 2 + 1) as usize;
    assert_eq!(set.to_vec().expect("keys").len(), all);
    drop(set);
    assert_empty(&pool);
    assert!(DeviceHashSet::<u32, RandomWalkMalloc>::new(&pool, 99).is_err());
}

/// Lists of different lengths, to which a kernel appends.
fn multi_maps(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(4 << 20);
    let groups: Vec<(u32, Vec<u32>)> = (0..30).map(|key| (key, (0..key).collect())).collect();
    let map = DeviceMultiMap::from_groups(&pool, &groups).expect("a map");
    let read = |map: &DeviceMultiMap<u32, u32, RandomWalkMalloc>| {
        let groups = map.to_vec().expect("groups").into_iter();
        let mut groups: Vec<_> = groups.map(|(key, values)| (key, sorted(values))).collect();
        groups.sort();
        groups
    };
    // The first has no values, so it is not there.
    assert_eq!(read(&map), groups[1..]);
    let keys: Vec<u32> = (0..40).collect();
    let keys = DeviceVec::from_slice(&site.device, &keys).expect("keys");
    let lanes = LaunchConfig::for_num_elems(40);
    let launch = site
        .kernels
        .multi_push(&pool, lanes, map.map(), &keys, &keys);
    launch.expect("multi_push");
    let of = |key: u32| {
        (
            key,
            (0..=if key < 30 { key } else { 0 }).collect::<Vec<u32>>(),
        )
    };
    let mut expected: Vec<_> = (0..30).map(of).collect();
    expected.extend((30..40).map(|key| (key, vec![key])));
    assert_eq!(read(&map), expected);
    drop(map);
    assert_empty(&pool);
    out_of_memory(&pool, site);
}

/// What a stream does to a set or a multimap is done before the host asks for it, as if no stream were there.
fn behind_streams(site: &Site) {
    let count = if site.is_slow() { 2000u32 } else { 200_000 };
    let pool = site.heap::<RandomWalkMalloc>(32 << 20);
    let numbers: Vec<u32> = (0..count).collect();
    let numbers = DeviceVec::from_slice(&site.device, &numbers).expect("keys");
    let pairs: Vec<[u32; 2]> = (0..count).map(|i| [i, 5]).collect();
    let pairs = DeviceVec::from_slice(&site.device, &pairs).expect("keys");
    let answers = DeviceVec::<u32>::zeroed(&site.device, count as usize).expect("answers");
    let (all, kernels) = (LaunchConfig::for_num_elems(count), &site.kernels);
    let stream = site.device.stream().expect("a stream");

    let set = DeviceHashSet::<[u32; 2], _>::new(&pool, 4).expect("a set");
    let brings = kernels.set_insert_launch(&pool, all, set.set(), &pairs, &answers);
    brings.on(&stream).expect("queued");
    assert_eq!(set.to_vec().expect("keys").len(), count as usize);

    let map = DeviceMultiMap::<u32, u32, _>::new(&pool, 4).expect("a map");
    let brings = kernels.multi_push_launch(&pool, all, map.map(), &numbers, &numbers);
    brings.on(&stream).expect("queued");
    assert_eq!(map.to_vec().expect("groups").len(), count as usize);
    stream.wait().expect("nothing fails");
    drop((set, map));
    assert_empty(&pool);
}

/// A map that does not fit: an error, and nothing stays.
fn out_of_memory(pool: &Pool<RandomWalkMalloc>, site: &Site) {
    let small = site.heap::<RandomWalkMalloc>(256 << 10);
    let large = |key: u32| (key, vec![[key; 8]; 40]);
    let groups: Vec<(u32, Vec<[u32; 8]>)> = (0..400).map(large).collect();
    assert!(DeviceMultiMap::from_groups(&small, &groups).is_err());
    assert_empty(&small);
    drop(DeviceMultiMap::from_groups(pool, &groups).expect("a map"));
    assert_empty(pool);
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort();
    values
}

fn few(site: &Site) {
    sets(site, 10, 8, 1 << 20);
}

/// What is small enough for explored schedules.
fn small(site: &Site) {
    sets(site, 450, 100, 4 << 20);
    multi_maps(site);
    arrays(site);
}

fn everything(site: &Site) {
    maps::<WarpHeap>(site);
    maps::<ScatterAlloc>(site);
    maps::<WarpHeap64>(site);
    behind_streams(site);
    arrays(site);
    sets(site, 450, 100, 4 << 20);
    multi_maps(site);
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
    fn other_allocators() {
        maps::<Gallatin>(&Site::host(32));
        maps::<OuroborosCVL>(&Site::host(32));
        maps::<WarpHeap32>(&Site::host(32));
    }
}

warpheap_container_tests::explored!(small);
warpheap_container_tests::explored_few!(few);
warpheap_container_tests::on_gpus!(everything);
