//! Elements and values: each lane's own, any lane's, one for all.

use crate::world::{BLOCK, World, config, sum};
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceBox, DeviceVec};
use warpheap_container_tests::Site;
use warpheap_parameter_kernels::Weights;
use warpheap_rt::device::HeapData;
use warpheap_rt::host::container::read_vectors;

/// Each lane has its own element of several vectors, those beyond the shortest do not run, and a second launch goes on
/// from what the first one left.
pub fn own_elements(site: &Site) {
    let world = World::new(site);
    let lengths: Vec<u32> = (0..100).map(|i| i % 7).collect();
    let mut lists = world.lists(&lengths);
    // Two lanes fewer: the others' lists stay.
    let mut sums = world.vec(&[100; 98]);
    let wanted = world.vec(&[1; 120]);
    let grow = world
        .kernels
        .grow(&world.pool, config(120), &mut lists, &wanted, &mut sums, 1);
    grow.expect("grown");
    assert_eq!(sums.to_vec().unwrap(), [101; 98]);
    let contents = read_vectors(&world.pool, &lists).unwrap();
    for (i, list) in contents.iter().enumerate() {
        let mut expected: Vec<u32> = (5..5 + lengths[i]).collect();
        expected.extend((i < 98).then_some(1));
        assert_eq!(list, &expected, "list {i}");
    }
    world.free(lists);
}

/// Names of a kernel and its parameters that code around it has for itself mean the user's.
pub fn taken_names(site: &Site) {
    let world = World::new(site);
    let mut lists = world.lists(&[0, 1, 2, 5]);
    let mut sums = world.vec(&[10, 20, 30, 40]);
    let more = world.vec(&[400, 300, 200, 100]);
    let reported = world
        .kernels
        .report(&world.pool, config(4), &mut sums, &more, &mut lists, 7);
    reported.expect("reported");
    assert_eq!(sums.to_vec().unwrap(), [418, 329, 240, 153]);
    world.free(lists);
}

/// All lanes run where all have to take part.
pub fn per_lane(site: &Site) {
    let world = World::new(site);
    let mut values = world.vec(&(0..45).collect::<Vec<u32>>());
    let mut sums = world.zeroed(130);
    let doubled = world.kernels.doubled(config(130), &mut values, &mut sums);
    doubled.expect("doubled");
    let twice: Vec<u32> = (0..45).map(|i| 2 * i).collect();
    assert_eq!(values.to_vec().unwrap(), twice);
    let firsts = [0, 80, 1, 1];
    let expected: Vec<u32> = (0..130).map(|i| firsts[i / BLOCK as usize]).collect();
    assert_eq!(sums.to_vec().unwrap(), expected);
}

/// Any element, where the program knows that no two lanes write one.
pub fn scatter(site: &Site) {
    let world = World::new(site);
    let from: Vec<[u32; 2]> = (0..200).map(|i| [i, !i]).collect();
    let places: Vec<u32> = (0..200).map(|i| i * 77 % 200).collect();
    let mut to = world.zeroed(200);
    let (given, to_where) = (world.vec(&from), world.vec(&places));
    // SAFETY: 77 and 200 have no common divisor, so no two places are the same.
    let permuted = unsafe {
        world
            .kernels
            .permute(config(210), &given, &to_where, &mut to)
    };
    permuted.expect("permuted");
    let to = to.to_vec().unwrap();
    assert!((0..200).all(|i| to[places[i] as usize] == from[i]));
}

/// Words that all lanes change.
pub fn together(site: &Site) {
    let world = World::new(site);
    let words = world.vec(&[5000, 1000, 1, u32::MAX, 0, 0]);
    world.kernels.together(config(80), &words).expect("changed");
    let words = words.to_vec().unwrap();
    assert_eq!(words[..4], [5000 - sum(0, 80), 3, 82, 0]);
    // Each number was left there once, and taken out once but for the last.
    assert_eq!(words[4] + words[5], sum(1, 80));
}

/// Values that are no whole words.
pub fn scalars(site: &Site) {
    let world = World::new(site);
    let mut out = world.zeroed(5);
    let launch = world
        .kernels
        .scalars(config(5), &mut out, true, false, [-3, 40], 70_000, -0.5);
    launch.expect("scalars");
    let expected = [1, -3i32 as u32, 40, 70_000, (-0.5f32).to_bits()];
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// One value for all lanes, which has more words than all arguments together.
pub fn one_for_all(site: &Site) {
    let world = World::new(site);
    let mut weights = Weights {
        factors: std::array::from_fn(|i| 7 * i as u32 + 1),
        sum: 9,
    };
    for sum in [9, 1000] {
        weights.sum = sum;
        let one = DeviceBox::new(&site.device, weights).expect("the weights");
        let mut out = world.zeroed::<u32>(100);
        let weighed = world.kernels.weigh(config(100), &one, &mut out);
        weighed.expect("weigh");
        let expected = (0..100).map(|i| i * (7 * (i % 40) + 1) + sum);
        assert!(out.to_vec().expect("weights").into_iter().eq(expected));
    }
}

/// What stands for nothing has null handles, wherever in an element they are.
pub fn handles_of_nothing(site: &Site) {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
    #[repr(C)]
    struct Link {
        count: u32,
        next: [DevicePtr<u32>; 2],
        rest: DevicePtr<[u32]>,
    }
    let nothing = Link {
        count: 0,
        next: [DevicePtr::NULL; 2],
        rest: DevicePtr::NULL.with_len(0),
    };
    let full = Link {
        count: 7,
        next: [DevicePtr::from_granule(0); 2],
        rest: DevicePtr::from_granule(3).with_len(9),
    };
    let device = &site.device;
    let made = DeviceVec::<Link>::zeroed(device, 3).expect("a vector");
    assert_eq!(made.to_vec().expect("links"), [nothing; 3]);
    let mut links = DeviceVec::from_slice(device, &[full; 5]).expect("a vector");
    links.fill_zero().expect("nothing");
    assert_eq!(links.to_vec().expect("links"), [nothing; 5]);
    let streams = [device.stream(), device.urgent_stream()];
    for stream in streams.map(|stream| stream.expect("a stream")) {
        links.copy_from(&[full; 5]).expect("links");
        stream.fill_zero(&mut links).expect("nothing");
        stream.wait().expect("the end");
        assert_eq!(links.to_vec().expect("links"), [nothing; 5]);
    }
}
