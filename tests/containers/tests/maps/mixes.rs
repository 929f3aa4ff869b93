//! Lanes that do many different things one after the other.

use super::world::World;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::collections::HashMap;
use warpheap::{DeviceVec, LaunchConfig};
use warpheap_container_tests::maps::Site;
use warpheap_map_kernels::mixes::*;
use warpheap_rt::device::WarpHeap;

/// Each lane brings and removes keys of its own, while others bring and remove theirs beside them: each answer is the one that
/// the lane's own doings give, and what is left is what the lanes say.
pub fn own_keys_come_and_go(site: &Site, root_bits: u32) {
    let world = World::<WarpHeap>::new(site, 16 << 20, root_bits);
    let lanes = if site.is_slow() { 100 } else { 4000 };
    let config = LaunchConfig::for_num_elems(lanes);
    let mut aged = DeviceVec::<Aged>::zeroed(&site.device, lanes as usize).expect("lanes");
    for seed in 0..3 {
        let done = (site.kernels).map_age(&world.pool, config, world.shared(), seed, 40, &mut aged);
        done.expect("map_age");
        let mut expected = Vec::new();
        for (lane, aged) in aged.to_vec().expect("lanes").iter().enumerate() {
            assert_eq!((aged.wrong, aged.failed), (0, 0), "lane {lane}");
            let there = (0..OWN).filter(|number| aged.present >> number & 1 != 0);
            let keys = there.map(|number| own_key(lane as u32, number));
            expected.extend(keys.map(|key| [key, own_value(key)]));
        }
        expected.sort_unstable();
        assert!(!expected.is_empty());
        assert!(world.list(64) == expected, "the map has other keys");
    }
    world.free();
}

/// Reads, writes and sums in the same warps: a read finds its key's value, and nothing is lost of the sums.
pub fn reads_beside_sums(site: &Site, root_bits: u32) {
    let world = World::<WarpHeap>::new(site, 8 << 20, root_bits);
    let lanes = if site.is_slow() { 64u32 } else { 2048 };
    let config = LaunchConfig::for_num_elems(lanes);
    let mut mixed = DeviceVec::<Mixed>::zeroed(&site.device, lanes as usize).expect("lanes");
    let mut run = |ops: &[[u32; 2]]| {
        let ops = DeviceVec::from_slice(&site.device, ops).expect("operations");
        let done =
            (site.kernels).map_mix(&world.pool, config, world.shared(), &ops, lanes, &mut mixed);
        done.expect("map_mix");
        let lanes = mixed.to_vec().expect("lanes");
        assert!(lanes.iter().all(|lane| (lane.wrong, lane.failed) == (0, 0)));
        let sum = |of: fn(&Mixed) -> u32| lanes.iter().map(of).sum::<u32>();
        (sum(|lane| lane.new), sum(|lane| lane.missed))
    };
    let keys: Vec<u32> = (0..lanes).map(|at| own_key(at, 0)).collect();
    let bring: Vec<[u32; 2]> = keys.iter().map(|&key| [key, WRITE]).collect();
    assert_eq!(run(&bring), (lanes, 0));
    let mut dice = SmallRng::seed_from_u64(1);
    let ops: Vec<[u32; 2]> = (0..lanes * 12)
        .map(|_| {
            // Some keys of all lanes, and all keys of some.
            let few = [3, lanes][dice.random_range(0..2)];
            let key = keys[dice.random_range(0..few) as usize];
            [key, [READ, ADD][dice.random_range(0..2)]]
        })
        .collect();
    assert_eq!(run(&ops), (0, 0));
    let mut expected: HashMap<u32, u32> = (0..lanes)
        .map(|at| (keys[at as usize], at << 16 | mark(keys[at as usize])))
        .collect();
    for [key, op] in ops {
        let value = expected.get_mut(&key).expect("a key");
        *value = value.wrapping_add((op == ADD) as u32 * ONE);
    }
    let values: Vec<u32> = keys.iter().map(|key| expected[key]).collect();
    assert_eq!(world.get(&keys), values);
    // Of keys that are not there.
    let absent: Vec<[u32; 2]> = (0..50).map(|at| [own_key(at, 1), READ]).collect();
    assert_eq!(run(&absent), (0, 50));
    world.free();
}
