//! Several heaps, heaps that the elements are not of, and what lies in a heap from one launch to the next.

use crate::world::{Lists, World, config, sum};
use warpheap_api::host::{DeviceError, DeviceVec, Pool};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_parameter_kernels::Nested;
use warpheap_rt::alloc::{Bump, RandomWalkMalloc};
use warpheap_rt::host::container::read_vectors;

/// Two heaps of two allocators, and one heap of one.
pub fn several_heaps(site: &Site) {
    let world = World::new(site);
    let other: Pool<RandomWalkMalloc> = site.heap(2 << 20);
    let bump: Pool<Bump> = site.heap(2 << 20);
    let lengths: Vec<u32> = (0..80).map(|i| i % 19).collect();
    let mut lists = world.lists(&lengths);
    let (kernels, config) = (&world.kernels, config(80));
    // SAFETY: the lists are of the first heap.
    unsafe { kernels.rehome(&world.pool, &other, config, &mut lists) }.expect("rehomed");
    assert_empty(&world.pool);
    let mut sums = world.zeroed(80);
    // The memory of the first heap has nothing of them any more.
    let mut again = world.lists(&lengths);
    let added = kernels.add_up(&other, config, &mut lists, &mut sums);
    added.expect("added up");
    let expected: Vec<u32> = lengths.iter().map(|&n| sum(5, n)).collect();
    assert_eq!(sums.to_vec().unwrap(), expected);
    assert_empty(&other);
    // SAFETY: as above.
    unsafe { kernels.rehome(&world.pool, &bump, config, &mut again) }.expect("rehomed");
    assert_empty(&world.pool);
    let contents = read_vectors(&bump, &again).unwrap();
    let others = world.lists_in(&bump, &lengths);
    assert_eq!(read_vectors(&bump, &others).unwrap(), contents);
    assert!(
        contents
            .iter()
            .zip(&lengths)
            .all(|(list, &n)| list.len() as u32 == n)
    );
}

/// A vector of containers is of the heap that they were made in, as it was then.
pub fn other_heaps(site: &Site) {
    let mut world = World::new(site);
    let other: Pool<RandomWalkMalloc> = site.heap(2 << 20);
    let config = config(30);
    let refused = |world: &World, pool: &Pool<RandomWalkMalloc>, lists: &mut Lists| {
        let mut sums = world.zeroed(30);
        match world.kernels.add_up(pool, config, lists, &mut sums) {
            Err(error @ DeviceError::BadLaunch { .. }) => error.to_string(),
            answer => panic!("{answer:?}"),
        }
    };
    let mut lists = world.lists(&[3; 30]);
    let text = refused(&world, &other, &mut lists);
    assert!(
        text.contains("its argument 2 has containers of another heap"),
        "{text}"
    );
    // Nothing was lost: they are still there, in their own heap.
    let mut sums = world.zeroed(30);
    let added = world
        .kernels
        .add_up(&world.pool, config, &mut lists, &mut sums);
    added.expect("added up");
    assert_eq!(sums.to_vec().unwrap(), [18; 30]);
    assert_empty(&world.pool);
    // They were freed, which only the program knows.
    refused(&world, &other, &mut lists);
    lists.fill_zero().expect("zeros");
    let added = world.kernels.add_up(&other, config, &mut lists, &mut sums);
    added.expect("empty lists");
    let mut lists = world.lists(&[4; 30]);
    world.pool.reset().expect("made fresh");
    let text = refused(&world, &world.pool, &mut lists);
    assert!(text.contains("made fresh since"), "{text}");
    assert_empty(&world.pool);
    lists.fill_zero().expect("zeros");
    let added = world
        .kernels
        .add_up(&world.pool, config, &mut lists, &mut sums);
    added.expect("empty lists");
    drop(other);
}

/// A box with a list, over several launches.
pub fn boxes(site: &Site) {
    let world = World::new(site);
    let (mut kept, mut sums) = (world.zeroed::<Nested>(50), world.zeroed(50));
    let run = |kept: &mut DeviceVec<Nested>, sums: &mut DeviceVec<u32>, empty| {
        let boxes = world
            .kernels
            .boxes(&world.pool, config(50), kept, sums, empty);
        boxes.expect("boxes");
    };
    for _ in 0..6 {
        run(&mut kept, &mut sums, false);
    }
    run(&mut kept, &mut sums, true);
    let expected: Vec<u32> = (0..50).map(|i| 6 * i).collect();
    assert_eq!(sums.to_vec().unwrap(), expected);
    assert_empty(&world.pool);
    // There are none left.
    run(&mut kept, &mut sums, true);
    assert_eq!(sums.to_vec().unwrap(), expected);
}
