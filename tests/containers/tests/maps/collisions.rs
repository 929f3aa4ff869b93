//! Keys whose hashes are the same at first.

use super::histories::history_kernels;
use super::world::World;
use warpheap::{DeviceHashSet, DeviceVec, LaunchConfig};
use warpheap_api::host::SharedArg;
use warpheap_container_tests::assert_empty;
use warpheap_container_tests::maps::Site;
use warpheap_history_kernels::histories::*;
use warpheap_rt::device::{HeapHashMap, RandomWalkMalloc, WarpHeap};

/// The library's hash of a key of two words, for its first seed.
fn hash(key: [u32; 2]) -> u32 {
    use warpheap_rt::sync::hash;
    hash(hash(!0 ^ key[0]) ^ key[1])
}

/// Different keys with the same first hash.
fn colliding(count: u32) -> Vec<[u32; 2]> {
    let half = |key: u32| warpheap_rt::sync::hash(!key);
    let keys: Vec<[u32; 2]> = (0..count).map(|i| [i, 1 ^ half(1) ^ half(i)]).collect();
    assert!(
        keys.iter().all(|&key| hash(key) == hash([1, 1])),
        "the test's keys do not collide"
    );
    keys
}

/// Keys with the same tag: they have room in a group of the root and in one of each of thirteen branches, the others go to the trie.
pub fn collides_in_slots(site: &Site) {
    let pool = site.heap::<RandomWalkMalloc>(1 << 20);
    let kernels = warpheap_set_kernels::load(&site.device).expect("the kernels load");
    let set = DeviceHashSet::<[u32; 2], RandomWalkMalloc>::new(&pool, 7).expect("a set");
    let keys = colliding(14 * 32 + 30);
    let (there, more) = keys.split_at(14 * 32 + 10);
    set.fill(there).expect("fill");
    let answers = DeviceVec::<u32>::zeroed(&site.device, keys.len()).expect("answers");
    let listed = DeviceVec::from_slice(&site.device, &keys).expect("keys");
    let all = LaunchConfig::for_num_elems(keys.len() as u32);
    // 0: whether they are there, 1: remove them.
    for (what, number) in [(0, there.len()), (1, there.len()), (0, 0)] {
        answers.fill_zero().expect("zeros");
        let asked = kernels.set_ask(&pool, all, set.set(), &listed, &answers, what);
        asked.expect("set_ask");
        let yes = answers.to_vec().expect("answers").iter().sum::<u32>();
        assert_eq!(yes as usize, number);
    }
    set.fill(more).expect("fill");
    set.fill(&keys).expect("fill");
    let mut found = set.to_vec().expect("keys");
    found.sort_unstable();
    assert_eq!(found, keys);
    drop(set);
    assert_empty(&pool);
}

/// Keys whose first hash is the same part at the second.
pub fn collides(site: &Site) {
    let world = World::<WarpHeap>::new(site, 1 << 20, 3);
    let keys = colliding(40);
    let op = |kind, key: &[u32; 2]| MapOp {
        kind,
        key: key[0],
        also: key[1],
        value: key[0] + 1,
    };
    let ops: Vec<MapOp> = keys
        .iter()
        .flat_map(|key| [op(INSERT, key), op(GET, key), op(INSERT, key)])
        .collect();
    let starts = world.vec(&(0..=40).map(|i| i * 3).collect::<Vec<u32>>());
    let device = &site.device;
    let (ops, clock) = (
        DeviceVec::from_slice(device, &ops).expect("ops"),
        world.vec(&[0]),
    );
    let outcomes = DeviceVec::zeroed(device, ops.len()).expect("outcomes");
    let table = world.map().table();
    // SAFETY: the map is empty.
    let map = unsafe { HeapHashMap::with_root(table.root(), table.root_bits()) };
    // SAFETY: it is of this heap, and freed below.
    let map = unsafe { SharedArg::assume_of(&world.pool, map) };
    let (kernels, pool) = (history_kernels(site), &world.pool);
    let all = LaunchConfig::for_num_elems(40);
    kernels
        .map_wide_histories(pool, all, map.clone(), &ops, &starts, &clock, &outcomes)
        .expect("actions");
    for (i, outcome) in outcomes.to_vec().expect("outcomes").chunks(3).enumerate() {
        let results: Vec<u32> = outcome.iter().map(|outcome| outcome.result).collect();
        assert_eq!(results, [1, i as u32 + 1, 0]);
    }
    let sums = world.vec(&[0, 0]);
    kernels
        .map_wide_free(pool, LaunchConfig::for_num_elems(1), map, &sums)
        .expect("map_wide_free");
    assert_eq!(sums.to_vec().expect("sums"), [40, 40 * 41 / 2]);
    assert_empty(&world.pool);
}
