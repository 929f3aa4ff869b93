//! Keys whose hashes are the same at first.

use super::world::World;
use warpheap::{DeviceVec, LaunchConfig};
use warpheap_api::host::SharedArg;
use warpheap_container_kernels::maps::*;
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::device::{HeapHashMap, WarpHeap};

/// The library's hash of a key of two words, for its first seed.
fn hash(key: [u32; 2]) -> u32 {
    use warpheap_rt::sync::hash;
    hash(hash(!0 ^ key[0]) ^ key[1])
}

/// Keys whose first hash is the same part at the second.
pub fn collides(site: &Site) {
    let world = World::<WarpHeap>::new(site, 1 << 20, 3);
    let first = [1, 1];
    let half = |key: u32| warpheap_rt::sync::hash(!key);
    let keys: Vec<[u32; 2]> = (0..40).map(|i| [i, 1 ^ half(1) ^ half(i)]).collect();
    assert!(
        keys.iter().all(|&key| hash(key) == hash(first)),
        "the test's keys do not collide"
    );
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
    let trie = world.map().trie();
    // SAFETY: the map is empty.
    let map = unsafe { HeapHashMap::with_root(trie.root(), trie.root_bits()) };
    // SAFETY: it is of this heap, and freed below.
    let map = unsafe { SharedArg::assume_of(&world.pool, map) };
    let (kernels, pool) = (&site.kernels, &world.pool);
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
