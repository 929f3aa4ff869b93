//! Hash maps: against `std`'s, under explored schedules, without memory, and with all lanes at one key.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use warpheap::{DeviceVec, LaunchConfig};
use warpheap_api::host::{HostAlloc, Pool};
use warpheap_container_kernels::maps::*;
use warpheap_container_tests::history::{Timed, is_linear};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::device::{AllocError, HeapHashMap, RandomWalkMalloc, WarpHeap};

const EXHAUSTED: u32 = 101;
const CONTENDED: u32 = 102;

type Map = HeapHashMap<u32, u32>;

/// The allocators that every kernel of maps is compiled for.
trait Any:
    MapNewEntry
    + MapInsertEntry
    + MapGetEntry
    + MapRemoveEntry
    + MapAddEntry
    + MapListEntry
    + MapTidyEntry
    + MapClearEntry
    + MapFreeEntry
{
}
impl<A> Any for A where
    A: MapNewEntry
        + MapInsertEntry
        + MapGetEntry
        + MapRemoveEntry
        + MapAddEntry
        + MapListEntry
        + MapTidyEntry
        + MapClearEntry
        + MapFreeEntry
{
}

/// A map in a heap, and what the host knows of it.
struct World<'a, A: HostAlloc> {
    site: &'a Site,
    pool: Pool<A>,
    map: DeviceVec<Map>,
}

impl<'a, A: Any> World<'a, A> {
    fn new(site: &'a Site, bytes: u64, root_bits: u32) -> Self {
        let world = Self::none(site, bytes);
        let one = LaunchConfig::for_num_elems(1);
        let made = site
            .kernels
            .map_new(&world.pool, one, &world.map, root_bits);
        made.expect("a map is made");
        world
    }

    fn none(site: &'a Site, bytes: u64) -> Self {
        World {
            site,
            pool: site.heap::<A>(bytes),
            map: DeviceVec::zeroed(&site.device, 1).expect("a map"),
        }
    }

    fn map(&self) -> Map {
        self.map.to_vec().expect("the map")[0]
    }

    fn vec(&self, data: &[u32]) -> DeviceVec<u32> {
        DeviceVec::from_slice(&self.site.device, data).expect("words")
    }

    fn each(
        &self,
        keys: &[u32],
        launch: impl Fn(LaunchConfig, &DeviceVec<u32>, &DeviceVec<u32>),
    ) -> Vec<u32> {
        let (keys, results) = (self.vec(keys), self.vec(&vec![77; keys.len()]));
        launch(
            LaunchConfig::for_num_elems(keys.len() as u32),
            &keys,
            &results,
        );
        results.to_vec().expect("results")
    }

    fn insert(&self, keys: &[u32], values: &[u32]) -> Vec<u32> {
        let values = self.vec(values);
        self.each(keys, |config, keys, results| {
            let kernels = &self.site.kernels;
            let done = kernels.map_insert(&self.pool, config, self.map(), keys, &values, results);
            done.expect("map_insert");
        })
    }

    fn add(&self, keys: &[u32], amounts: &[u32]) -> Vec<u32> {
        let amounts = self.vec(amounts);
        self.each(keys, |config, keys, results| {
            let kernels = &self.site.kernels;
            let done = kernels.map_add(&self.pool, config, self.map(), keys, &amounts, results);
            done.expect("map_add");
        })
    }

    fn get(&self, keys: &[u32]) -> Vec<u32> {
        self.each(keys, |config, keys, results| {
            let done = self
                .site
                .kernels
                .map_get(&self.pool, config, self.map(), keys, results);
            done.expect("map_get");
        })
    }

    fn remove(&self, keys: &[u32]) -> Vec<u32> {
        self.each(keys, |config, keys, results| {
            let done = self
                .site
                .kernels
                .map_remove(&self.pool, config, self.map(), keys, results);
            done.expect("map_remove");
        })
    }

    /// All pairs, by `lanes` lanes, which insert `keys` meanwhile.
    fn list_while(&self, lanes: u32, keys: &[u32], room: usize) -> Vec<[u32; 2]> {
        let device = &self.site.device;
        let found = DeviceVec::<u32>::zeroed(device, 1).expect("a counter");
        let pairs = DeviceVec::<[u32; 2]>::zeroed(device, room).expect("pairs");
        let keys = self.vec(keys);
        let config = LaunchConfig {
            grid_dim: lanes.div_ceil(64),
            block_dim: lanes.min(64),
        };
        let done =
            self.site
                .kernels
                .map_list(&self.pool, config, self.map(), &keys, &found, &pairs);
        done.expect("map_list");
        let mut pairs = pairs.to_vec().expect("pairs");
        pairs.truncate(found.to_vec().expect("the count")[0] as usize);
        pairs
    }

    fn list(&self, lanes: u32) -> Vec<[u32; 2]> {
        let mut pairs = self.list_while(lanes, &[], 1 << 16);
        pairs.sort_unstable();
        pairs
    }

    fn tidy(&self, lanes: u32) {
        let config = LaunchConfig {
            grid_dim: 1,
            block_dim: lanes,
        };
        self.site
            .kernels
            .map_tidy(&self.pool, config, self.map())
            .expect("map_tidy");
    }

    fn clear(&self, lanes: u32) {
        let config = LaunchConfig {
            grid_dim: 1,
            block_dim: lanes,
        };
        self.site
            .kernels
            .map_clear(&self.pool, config, self.map())
            .expect("map_clear");
    }

    fn used(&self) -> u64 {
        self.pool.stats().expect("stats").usage.used_bytes
    }

    /// Frees everything; nothing is left.
    fn free(self) {
        let one = LaunchConfig::for_num_elems(1);
        self.site
            .kernels
            .map_free(&self.pool, one, &self.map)
            .expect("map_free");
        assert!(self.map().is_none());
        assert_empty(&self.pool);
    }
}

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

/// Every key twice, into a root of four slots: each is inserted once, found, listed once and freed.
fn grows<A: Any>(site: &Site) {
    let world = World::<A>::new(site, 8 << 20, 2);
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
    // Many shares, fewer, then as few as the root has slots.
    for lanes in [64, 5, 3] {
        world.clear(lanes);
        assert!(world.list(64).is_empty());
    }
    world.free();
}

/// All lanes at a few keys: nothing is lost of the sums.
fn adds<A: Any>(site: &Site) {
    let world = World::<A>::new(site, 4 << 20, 0);
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

/// Removed keys are gone, come back, and their memory comes back by tidying, whatever the number of lanes.
fn tidies<A: Any>(site: &Site) {
    let world = World::<A>::new(site, 4 << 20, 3);
    let empty = world.used();
    let keys = numbers(2000);
    let (gone, kept): (Vec<u32>, Vec<u32>) = keys.iter().partition(|&&key| key % 7 != 0);
    world.insert(&keys, &keys);
    let full = world.used();
    assert_eq!(world.remove(&gone), vec![1; gone.len()]);
    assert_eq!(world.remove(&gone), vec![0; gone.len()]);
    assert_eq!(world.get(&gone), vec![NONE; gone.len()]);
    assert_eq!(world.insert(&gone[..50], &[5; 50]), [1; 50]);
    assert_eq!(world.used(), full, "a key that came back took new memory");
    assert_eq!(world.get(&gone[..50]), [5; 50]);
    world.remove(&gone);
    for lanes in [100, 20, 8] {
        world.tidy(lanes);
        assert_eq!(world.get(&kept), kept);
        let listed: Vec<u32> = world.list(33).iter().map(|pair| pair[0]).collect();
        let mut sorted = kept.clone();
        sorted.sort_unstable();
        assert!(
            listed == sorted,
            "{lanes} lanes tidied too much or too little"
        );
    }
    assert!(
        world.used() < full / 2,
        "{} of {full} bytes stay",
        world.used()
    );
    world.remove(&kept);
    world.tidy(100);
    world.tidy(8);
    assert_eq!(world.used(), empty, "dead keys stay");
    assert_eq!(world.insert(&keys, &keys), vec![1; keys.len()]);
    world.free();
}

/// The n-th request for memory is refused, for every n: that lane's key is not there, all others are.
fn runs_out(site: &Site) {
    let mut refused = 0;
    let mut n = 0;
    while refused == n {
        n += 1;
        let world = World::<Failing<RandomWalkMalloc>>::none(site, 1 << 20);
        Failing::refuse(&world.pool, n).expect("refuse");
        let one = LaunchConfig::for_num_elems(1);
        if site
            .kernels
            .map_new(&world.pool, one, &world.map, 1)
            .is_err()
        {
            assert!(world.map().is_none());
            refused += 1;
            assert_eq!(world.insert(&[1], &[1]), [103], "there is no map");
            assert_eq!(world.get(&[1]), [NONE]);
            world.free();
            continue;
        }
        let keys: Vec<u32> = numbers(24).iter().map(|key| key % 20_000).collect();
        let results = world.insert(&keys, &keys);
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
        refused += failed.len() as u32;
        let expected: Vec<u32> = keys
            .iter()
            .map(|&key| if failed.contains(&key) { NONE } else { key })
            .collect();
        assert_eq!(world.get(&keys), expected);
        assert_eq!(world.list(4).len(), keys.len() - failed.len());
        assert_eq!(world.insert(&failed, &failed), vec![1; failed.len()]);
        assert_eq!(world.get(&keys), keys);
        world.free();
    }
    assert!(
        n > 30,
        "only {n} requests: the test does not reach what it is for"
    );
}

/// Keys that are there come exactly once to lanes that list them, whatever others insert meanwhile.
fn lists_while_growing(site: &Site, rounds: u32) {
    for round in 0..rounds {
        let world = World::<WarpHeap>::new(site, 1 << 20, 1);
        let keys = numbers(20 + round % 10);
        let (old, new) = keys.split_at(8);
        world.insert(old, old);
        let pairs = world.list_while(12, new, 100);
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

type State = HashMap<u32, u32>;

fn step(state: &mut State, op: MapOp) -> u32 {
    let old = state.get(&op.key).copied();
    match op.kind {
        INSERT => {
            state.entry(op.key).or_insert(op.value);
        }
        SET => {
            state.insert(op.key, op.value);
        }
        UPSERT => {
            state.insert(
                op.key,
                old.map_or(op.value, |old| old.wrapping_mul(2).wrapping_add(op.value)),
            );
        }
        ADD => {
            state.insert(
                op.key,
                old.map_or(op.value, |old| old.wrapping_add(op.value)),
            );
        }
        GET => return old.unwrap_or(NONE),
        _ => {
            state.remove(&op.key);
            return old.is_some() as u32;
        }
    }
    old.is_none() as u32
}

/// Small random programs of a few lanes on one or two keys, checked by trying all orders. Before them, each key may
/// be there or have been removed. False if a lane gave up because another one stood still in the middle of
/// an action, which schedules that are explored may do to it; what it wanted then did not happen.
fn histories(site: &Site, seed: u64, shape: LaunchConfig, wide: bool) -> bool {
    let mut dice = SmallRng::seed_from_u64(seed);
    let world = World::<WarpHeap>::new(site, 1 << 20, 0);
    let lanes = (shape.grid_dim * shape.block_dim) as usize;
    let mut op = |kinds: &[u32]| MapOp {
        kind: kinds[dice.random_range(0..kinds.len())],
        key: dice.random_range(0..2),
        also: 3,
        value: dice.random_range(1..1000),
    };
    // One lane before, many at once, one lane after.
    let before: Vec<MapOp> = (0..3).map(|_| op(&[INSERT, REMOVE])).collect();
    let kinds: &[u32] = if wide {
        &[INSERT, SET, UPSERT, GET, GET, REMOVE, REMOVE]
    } else {
        &[INSERT, SET, UPSERT, ADD, ADD, GET, GET, REMOVE, REMOVE]
    };
    let during: Vec<MapOp> = (0..lanes * 3).map(|_| op(kinds)).collect();
    let what = format!("seed {seed}, {shape:?}");
    let complete = is_explained(&world, &what, wide, shape, before, during);
    if !wide {
        world.free();
    }
    complete
}

/// One lane changes the value of a key while others remove it and insert it again: a change that comes late is seen
/// in the new value or not at all. False as in [`histories`].
fn late_change(site: &Site, seed: u64, kind: u32) -> bool {
    let world = World::<WarpHeap>::new(site, 1 << 20, 0);
    let op = |kind, value| MapOp {
        kind,
        key: 0,
        also: 3,
        value,
    };
    // Three lanes change, one removes, one inserts; each looks afterwards.
    let mut during = [op(kind, 5), op(GET, 0)].repeat(3);
    during.extend([op(REMOVE, 0), op(GET, 0), op(INSERT, 70), op(GET, 0)]);
    let shape = LaunchConfig {
        grid_dim: 5,
        block_dim: 1,
    };
    let what = format!("seed {seed}, a late change of kind {kind}");
    let complete = is_explained(&world, &what, false, shape, vec![op(INSERT, 100)], during);
    world.free();
    complete
}

/// Runs actions of one lane before, and of lanes of this shape, as many each; then asks for the values. Fails
/// unless an order explains what they saw. False as in [`histories`].
fn is_explained(
    world: &World<WarpHeap>,
    what: &str,
    wide: bool,
    shape: LaunchConfig,
    before: Vec<MapOp>,
    during: Vec<MapOp>,
) -> bool {
    let site = world.site;
    let last = MapOp {
        kind: GET,
        key: 0,
        also: 3,
        value: 0,
    };
    let after = vec![last, MapOp { key: 1, ..last }];
    let clock = DeviceVec::<u32>::zeroed(&site.device, 1).expect("a clock");
    let one = LaunchConfig {
        grid_dim: 1,
        block_dim: 1,
    };
    let mut actions = Vec::new();
    for (ops, shape) in [(before, one), (during, shape), (after, one)] {
        let lanes = shape.grid_dim * shape.block_dim;
        let each = ops.len() as u32 / lanes;
        let starts: Vec<u32> = (0..=lanes).map(|lane| lane * each).collect();
        let outcomes = DeviceVec::zeroed(&site.device, ops.len()).expect("outcomes");
        let listed = DeviceVec::from_slice(&site.device, &ops).expect("ops");
        let starts = world.vec(&starts);
        let (kernels, pool) = (&site.kernels, &world.pool);
        if wide {
            let trie = world.map().trie();
            // SAFETY: an empty map has no keys of any width, and this one is used with these alone.
            let map = unsafe { HeapHashMap::with_root(trie.root(), trie.root_bits()) };
            kernels.map_wide_histories(pool, shape, map, &listed, &starts, &clock, &outcomes)
        } else {
            kernels.map_histories(
                pool,
                shape,
                world.map(),
                &listed,
                &starts,
                &clock,
                &outcomes,
            )
        }
        .expect("the actions");
        let outcomes = outcomes.to_vec().expect("outcomes");
        actions.extend(ops.iter().zip(outcomes).map(|(&op, outcome)| Timed {
            op,
            begin: outcome.begin,
            end: outcome.end,
            result: outcome.result,
        }));
    }
    let count = actions.len();
    actions.retain(|action| action.result != CONTENDED);
    // Who looked for a value in vain has no other way to say so.
    let stats = world.pool.stats().expect("stats");
    let looked = stats.failures[AllocError::Contended.code() as usize - 1];
    let complete = actions.len() == count && looked == 0;
    assert!(
        looked > 0 || is_linear(&actions, &State::new(), &step),
        "{what}: no order explains {actions:#?}"
    );
    complete
}

/// The shapes in which lanes of histories run: in one warp, in several, alone.
const SHAPES: [LaunchConfig; 3] = [
    LaunchConfig {
        grid_dim: 1,
        block_dim: 4,
    },
    LaunchConfig {
        grid_dim: 2,
        block_dim: 2,
    },
    LaunchConfig {
        grid_dim: 3,
        block_dim: 1,
    },
];

/// The library's hash of a key of two words, for its first seed.
fn hash(key: [u32; 2]) -> u32 {
    use warpheap_rt::sync::hash;
    hash(hash(!0 ^ key[0]) ^ key[1])
}

/// Keys whose first hash is the same part at the second.
fn collides(site: &Site) {
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
    let (kernels, pool) = (&site.kernels, &world.pool);
    let all = LaunchConfig::for_num_elems(40);
    kernels
        .map_wide_histories(pool, all, map, &ops, &starts, &clock, &outcomes)
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
        &(0u32..4, prop::collection::vec(batch, 1..12)),
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
    grows::<WarpHeap>(site);
    adds::<WarpHeap>(site);
    tidies::<WarpHeap>(site);
    runs_out(site);
    lists_while_growing(site, 10);
    collides(site);
    let mut complete = 0;
    for seed in 0..30 {
        for shape in SHAPES {
            complete += histories(site, seed, shape, false) as u32;
            complete += histories(site, seed, shape, true) as u32;
        }
    }
    assert!(
        complete > 170,
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

mod explored {
    use super::*;

    #[test]
    fn histories_are_linear() {
        let mut complete = 0;
        for seed in 0..400 {
            let width = [1, 4, 8][seed as usize % 3];
            let site = Site::explored(width, seed);
            for shape in SHAPES {
                complete += histories(&site, seed, shape, false) as u32;
                complete += histories(&site, seed, shape, true) as u32;
            }
        }
        assert!(
            complete > 2200,
            "only {complete} of 2400 had no lane that gave up"
        );
    }

    #[test]
    fn late_changes_are_seen_whole_or_not_at_all() {
        let mut complete = 0;
        for seed in 0..8000 {
            let site = Site::explored(1, seed);
            complete += late_change(&site, seed, [ADD, SET, UPSERT][seed as usize % 3]) as u32;
        }
        assert!(
            complete > 3600,
            "only {complete} of 4000 had no lane that gave up"
        );
    }

    #[test]
    fn keys_are_listed_once_while_others_come() {
        for seed in 0..60 {
            lists_while_growing(&Site::explored([1, 4, 8][seed as usize % 3], seed), 3);
        }
    }

    #[test]
    fn memory_runs_out() {
        for seed in 0..3 {
            runs_out(&Site::explored(4, seed));
        }
    }

    #[test]
    fn collisions() {
        for seed in 0..10 {
            collides(&Site::explored(8, seed));
        }
    }
}

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
            let mut complete = 0;
            for seed in 30..300 {
                let shape = SHAPES[seed as usize % 3];
                complete += histories(&site, seed, shape, seed % 2 == 0) as u32;
            }
            assert!(
                complete > 250,
                "only {complete} of 270 had no lane that gave up"
            );
        }
    }
}
