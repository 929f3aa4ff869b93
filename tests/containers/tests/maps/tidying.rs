//! The memory of removed keys: tidying gives it back, and it serves other keys.

use super::world::{Any, World};
use super::{SLOTS, numbers};
use warpheap_container_tests::maps::Site;
use warpheap_history_kernels::histories::NONE;
use warpheap_rt::device::WarpHeap;

/// Removed keys are gone, come back, and their memory comes back by tidying, whatever the number of lanes.
pub fn tidies<A: Any>(site: &Site, root_bits: u32, keys: &[u32]) {
    let world = World::<A>::new(site, 4 << 20, root_bits);
    let empty = world.used();
    let (gone, kept): (Vec<u32>, Vec<u32>) = keys.iter().partition(|&&key| key % 7 != 0);
    world.insert(keys, keys);
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
    assert_eq!(world.insert(keys, keys), vec![1; keys.len()]);
    world.free();
}

/// Keys come and go for many rounds, each one once. With tidying between the rounds the slots of the first serve those of the
/// last, and no key is lost.
pub fn ages(site: &Site) {
    const LIVE: usize = 200;
    const ROUNDS: usize = 20;
    let world = World::<WarpHeap>::new(site, 4 << 20, SLOTS + 1);
    let keys = numbers((LIVE * ROUNDS) as u32);
    let mut at_first = 0;
    for round in 1..ROUNDS {
        let old = &keys[(round - 1) * LIVE..][..LIVE];
        let new = &keys[round * LIVE..][..LIVE];
        if round == 1 {
            world.insert(old, old);
        }
        assert_eq!(world.insert(new, new), vec![1; LIVE]);
        let used = world.used();
        if round == 1 {
            at_first = used;
        }
        // The few keys for which a group has no room lie in leaves, of which there are more in one round than in another.
        assert!(
            used < at_first + 2048,
            "{used} bytes in round {round}, {at_first} in the first"
        );
        assert_eq!(world.get(old), old, "round {round}");
        assert_eq!(world.remove(old), vec![1; LIVE]);
        world.tidy([1, 7, 64][round % 3]);
        assert_eq!(world.get(new), new, "round {round}");
        let mut expected: Vec<[u32; 2]> = new.iter().map(|&key| [key, key]).collect();
        expected.sort_unstable();
        assert_eq!(world.list(3), expected, "round {round}");
    }
    world.free();
}
