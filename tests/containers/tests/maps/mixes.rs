//! Lanes that do many different things one after the other.

use super::world::World;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::collections::HashMap;
use warpheap::{DeviceVec, LaunchConfig};
use warpheap_container_tests::maps::Site;
use warpheap_map_kernels::maps::NONE;
use warpheap_map_kernels::mixes::*;
use warpheap_rt::device::WarpHeap;

/// Each lane brings and removes keys of its own, while others bring and remove theirs beside them: each answer is the one that
/// the lane's own doings give, and what is left is what the lanes say.
pub fn own_keys_come_and_go(site: &Site, root_bits: u32) {
    let world = World::<WarpHeap>::new(site, 16 << 20, root_bits);
    let lanes = if site.is_slow() { 100 } else { 3000 };
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

/// Launches of two streams at one map at the same time: each brings keys of its own and finds them, and both add to the same ones.
pub fn two_streams(site: &Site, root_bits: u32) {
    const SUMS: u32 = 64;
    let world = World::<WarpHeap>::new(site, 16 << 20, root_bits);
    let count = if site.is_slow() { 1500u32 } else { 20_000 };
    let config = LaunchConfig::for_num_elems(count);
    let parts = [0, 1].map(|part| {
        let keys: Vec<u32> = (0..count).map(|at| own_key(at, part)).collect();
        let sums: Vec<u32> = (0..count).map(|at| own_key(at % SUMS, 2)).collect();
        let [new, found, added] = [0; 3].map(|_| world.vec(&vec![NONE; count as usize]));
        (keys, sums, new, found, added)
    });
    let (pool, kernels) = (&world.pool, &site.kernels);
    let ones = world.vec(&vec![1; count as usize]);
    let done = site.device.scope(|scope| {
        let streams = [scope.stream()?, scope.stream()?];
        for ((keys, sums, new, found, added), stream) in parts.iter().zip(&streams) {
            let (keys, sums) = (world.vec(keys), world.vec(sums));
            let map = || world.shared();
            stream.launch_all(vec![
                kernels.map_insert_launch(pool, config, map(), &keys, &keys, new),
                kernels.map_add_launch(pool, config, map(), &sums, &ones, added),
                kernels.map_get_launch(pool, config, map(), &keys, found),
            ])?;
        }
        Ok(())
    });
    done.expect("both streams");
    let mut new_sums = 0;
    for (keys, _, new, found, added) in &parts {
        let of = |results: &DeviceVec<u32>| results.to_vec().expect("results");
        assert!(of(new) == vec![1; keys.len()], "a key that was there");
        assert!(of(found) == *keys, "a key is gone");
        assert!(of(added).iter().all(|&added| added < 2), "a sum failed");
        new_sums += of(added).iter().sum::<u32>();
    }
    assert_eq!(new_sums, SUMS, "a sum begins once");
    let sums: Vec<u32> = (0..SUMS).map(|at| own_key(at, 2)).collect();
    let expected = sums.iter().enumerate().map(|(at, _)| {
        let rest = count % SUMS > at as u32;
        2 * (count / SUMS + rest as u32)
    });
    assert_eq!(world.get(&sums), expected.collect::<Vec<_>>());
    assert_eq!(world.list(64).len() as u32, 2 * count + SUMS);
    world.free();
}
