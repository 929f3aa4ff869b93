//! Keys of one group: what comes when its slots are taken, and those of the branches below it.

use super::world::{Any, World};
use super::{NONE, SLOTS};
use std::collections::HashMap;
use warpheap::LaunchConfig;
use warpheap_api::layout;
use warpheap_container_tests::maps::Site;
use warpheap_rt::device::{HeapHashMap, WarpHeap};
use warpheap_rt::sync::unhash;

/// Slots of a group.
pub const GROUP: u32 = 32;
/// Bits of the hash by which the smallest root with slots chooses one of 64 buckets.
const ROOT: u32 = SLOTS - 1;

/// The key of one word with this hash.
fn key_of(hash: u32) -> u32 {
    !unhash(hash)
}

/// Different keys of group 0 of a root of `2^SLOTS` that go the same way through `levels` branches below it, number `from` and those
/// behind it.
pub fn alike(levels: u32, from: u32, count: u32) -> Vec<u32> {
    let shift = ROOT + 2 * levels;
    let hash = |i: u32| (i % 8) | ((i / 8) << shift);
    (from..from + count).map(|i| key_of(hash(i))).collect()
}

/// Bytes of a branch.
fn branch_bytes() -> u64 {
    HeapHashMap::<u32, u32>::growth_layout().size() as u64
}

/// All keys in one group: each is inserted once and found, listed once, removed, and what is left moves up; in the end no branch
/// is left.
pub fn one_group<A: Any>(site: &Site, levels: u32) {
    let world = World::<A>::new(site, 4 << 20, SLOTS);
    let empty = world.used();
    let keys = alike(levels, 0, 700);
    assert_eq!(world.insert(&keys, &keys), vec![1; keys.len()]);
    assert_eq!(world.insert(&keys, &keys), vec![0; keys.len()]);
    assert_eq!(world.get(&keys), keys);
    let absent = alike(levels, 700, 300);
    assert_eq!(world.get(&absent), vec![NONE; absent.len()]);
    let full = world.used();
    assert!(full >= empty + 5 * branch_bytes(), "{full}");
    let sorted = |keys: &[u32]| {
        let mut pairs: Vec<[u32; 2]> = keys.iter().map(|&key| [key, key]).collect();
        pairs.sort_unstable();
        pairs
    };
    // Fewer shares than groups, more, and so many that branches are shared out.
    for lanes in [1, 7, 8, 30, 64, 300, 3000] {
        assert!(world.list(lanes) == sorted(&keys), "{lanes} lanes");
    }
    let mut left = keys.as_slice();
    // From the first, which lie in the root.
    for gone in [20, 50, 300, 250] {
        let (first, rest) = left.split_at(gone);
        assert_eq!(world.remove(first), vec![1; gone]);
        assert_eq!(world.get(first), vec![NONE; gone]);
        assert_eq!(world.get(rest), rest);
        world.tidy([3, 64][gone / 300]);
        left = rest;
        assert_eq!(
            world.get(&keys[..700 - left.len()]),
            vec![NONE; 700 - left.len()]
        );
        assert_eq!(world.get(left), left);
        assert!(world.list(5) == sorted(left), "{gone} less");
        // A key that is there is not inserted again, one that is not is, once.
        assert_eq!(world.insert(left, left), vec![0; left.len()]);
        assert_eq!(world.insert(&first[..10], &first[..10]), [1; 10]);
        assert_eq!(world.remove(&first[..10]), [1; 10]);
    }
    assert!(world.used() < full);
    assert_eq!(world.remove(left), vec![1; left.len()]);
    world.tidy(1);
    assert_eq!(world.used(), empty, "a branch without keys stays");
    assert_eq!(world.insert(&keys, &keys), vec![1; keys.len()]);
    // With many shares branches at the top stay, with few all go.
    for lanes in [250, 8] {
        world.clear(lanes);
        assert!(world.list(3).is_empty());
    }
    assert_eq!(world.used(), empty);
    world.free();
}

/// A branch whose keys all go is freed, also below a group that stays full, and below a branch.
pub fn gives_branches_back(site: &Site) {
    let world = World::<WarpHeap>::new(site, 1 << 20, SLOTS);
    let mut keys = Vec::new();
    let mut used = Vec::new();
    for level in 0..3 {
        used.push(world.used());
        let more = alike(3, level * GROUP, GROUP);
        assert_eq!(world.insert(&more, &more), vec![1; more.len()]);
        keys.push(more);
    }
    assert!(used[0] == used[1] && used[1] < used[2], "{used:?}");
    for level in [2, 1] {
        assert_eq!(world.remove(&keys[level]), vec![1; GROUP as usize]);
        world.tidy(1);
        assert_eq!(world.used(), used[level], "a branch without keys stays");
        for there in &keys[..level] {
            assert_eq!(&world.get(there), there);
        }
    }
    world.free();
}

/// All lanes ask for one key that has no room: one brings it. Then each for another one: none is lost.
pub fn asked_by_all(site: &Site) {
    let world = World::<WarpHeap>::new(site, 4 << 20, SLOTS);
    let before = alike(1, 0, GROUP);
    world.insert(&before, &before);
    let used = world.used();
    let key = alike(1, GROUP, 1)[0];
    let fresh: u32 = world.insert(&[key; 200], &[5; 200]).iter().sum();
    assert_eq!(fresh, 1);
    assert_eq!(world.get(&[key; 3]), [5; 3]);
    // Whoever got a branch in vain has given it back.
    assert!(world.used() < used + 2 * branch_bytes());
    let mut sums = HashMap::new();
    let keys: Vec<u32> = (0..400)
        .flat_map(|i| alike(1, GROUP + 1 + i % 50, 1))
        .collect();
    for key in &keys {
        *sums.entry(*key).or_insert(0) += 1;
    }
    let fresh: u32 = world.add(&keys, &vec![1; keys.len()]).iter().sum();
    assert_eq!(fresh, 50);
    let keys: Vec<u32> = sums.keys().copied().collect();
    let values: Vec<u32> = sums.values().copied().collect();
    assert_eq!(world.get(&keys), values);
    assert_eq!(world.get(&before), before);
    world.free();
}

/// All lanes find one group full at the same time. Few of them bring a branch, so memory for a few suffices.
pub fn few_bring_branches(site: &Site) {
    let room = 12 * branch_bytes();
    let world = World::<WarpHeap>::new(site, 1 << 20, SLOTS);
    let before = alike(1, 0, GROUP);
    world.insert(&before, &before);
    // All that is free is taken, but for so much.
    let room = layout::bytes(room as usize);
    let kept = world.pool.malloc(room).expect("room");
    let mut filled = Vec::new();
    loop {
        let run = world.pool.stats().expect("stats").usage.largest_free_run;
        let rest = layout::bytes(run.expect("a run") as usize);
        match world.pool.malloc(rest) {
            Ok(block) if rest.size() > 0 => filled.push((block, rest)),
            _ => break,
        }
    }
    // SAFETY: it was got here with this layout.
    unsafe { world.pool.free(kept, room) }.expect("the room");
    let keys = alike(1, GROUP, 600);
    let results = world.insert(&keys, &keys);
    let failed = results.iter().filter(|&&result| result > 1).count();
    assert_eq!(failed, 0, "of {} lanes", keys.len());
    assert_eq!(world.get(&keys), keys);
    for (block, rest) in filled {
        // SAFETY: it was got here with this layout.
        unsafe { world.pool.free(block, rest) }.expect("the rest");
    }
    world.free();
}

/// A map in which group 0 of the root, and one group of each of `levels - 1` branches below it, are full but for `room` slots of the last.
pub fn nearly_full(site: &Site, levels: u32, room: u32) -> World<'_, WarpHeap> {
    let world = World::<WarpHeap>::new(site, 1 << 20, SLOTS);
    // Two keys of each bucket are left for the test.
    let fillers = alike(3, 16, GROUP * levels - room);
    for part in fillers.chunks(GROUP as usize) {
        let one = LaunchConfig::for_num_elems(part.len() as u32);
        let (keys, results) = (world.vec(part), world.vec(&vec![0; part.len()]));
        let done =
            site.kernels
                .map_insert(&world.pool, one, world.shared(), &keys, &keys, &results);
        done.expect("map_insert");
        assert_eq!(results.to_vec().expect("results"), vec![1; part.len()]);
    }
    world
}
