//! What kernels can take, and what they return, on every device.

use std::panic::{AssertUnwindSafe, catch_unwind};
use warpheap_api::host::{Cause, DeviceBox, DeviceError, DeviceVec, LaunchConfig, Pool};
use warpheap_api::{AllocError, DevicePtr};
use warpheap_container_tests::{Site, assert_empty};
use warpheap_parameter_kernels::{Allocator, Kernels, Nested, Trouble, Weights, load};
use warpheap_rt::alloc::{Bump, RandomWalkMalloc};
use warpheap_rt::container::HeapVec;
use warpheap_rt::device::HeapData;
use warpheap_rt::host::container::{free_vectors, read_vectors};

const BLOCK: u32 = 40;

fn config(lanes: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: lanes.div_ceil(BLOCK),
        block_dim: BLOCK,
    }
}

struct World<'a> {
    site: &'a Site,
    kernels: Kernels,
    pool: Pool<RandomWalkMalloc>,
}

type Lists = DeviceVec<HeapVec<u32>>;

impl<'a> World<'a> {
    fn new(site: &'a Site) -> Self {
        World {
            site,
            kernels: load(&site.device).expect("the kernels load"),
            pool: site.heap(4 << 20),
        }
    }

    fn vec<T: HeapData + Copy>(&self, elements: &[T]) -> DeviceVec<T> {
        DeviceVec::from_slice(&self.site.device, elements).expect("a vector")
    }

    fn zeroed<T: HeapData>(&self, len: usize) -> DeviceVec<T> {
        DeviceVec::zeroed(&self.site.device, len).expect("a vector")
    }

    /// Lists of these lengths, filled by a kernel.
    fn lists(&self, lengths: &[u32]) -> Lists {
        self.lists_in(&self.pool, lengths)
    }

    /// The same in a heap of any allocator that the kernel's crate lists.
    fn lists_in<A: Allocator>(&self, pool: &Pool<A>, lengths: &[u32]) -> Lists {
        let mut lists = self.zeroed(lengths.len());
        let mut sums = self.zeroed(lengths.len());
        let wanted = self.vec(lengths);
        let lanes = lengths.len() as u32;
        let grown = self
            .kernels
            .grow(pool, config(lanes), &mut lists, &wanted, &mut sums, 5);
        grown.expect("lists");
        lists
    }

    fn free(&self, mut lists: Lists) {
        // SAFETY: they are of this heap, and nobody else has them.
        unsafe { free_vectors(&self.pool, &mut lists) }.expect("freed");
        assert_empty(&self.pool);
    }
}

/// The sum of so many numbers from `first` on.
fn sum(first: u32, count: u32) -> u32 {
    (first..first + count).sum()
}

/// Each lane has its own element of several vectors, those beyond the shortest do not run, and a second launch goes on
/// from what the first one left.
fn own_elements(site: &Site) {
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

/// What a lane had when it failed is in its element; the launch tells the program's own error.
fn failures(site: &Site) {
    let world = World::new(site);
    let (mut lists, mut sums) = (world.zeroed(90), world.zeroed(90));
    let mut lengths = [4; 90];
    (lengths[50], lengths[60], lengths[7]) = (1001, 1000, 1001);
    let run = |lists: &mut Lists, sums: &mut DeviceVec<u32>, lengths: &[u32]| {
        let wanted = world.vec(lengths);
        let kernels = &world.kernels;
        kernels.grow(&world.pool, config(90), lists, &wanted, sums, 1)
    };
    match run(&mut lists, &mut sums, &lengths) {
        Err(DeviceError::Kernel(failure)) => {
            assert_eq!(
                (failure.lanes, failure.own(), failure.by_cause),
                (3, 3, [0; 3])
            );
            let lane = (failure.block * BLOCK + failure.lane) as usize;
            let expected = match lengths[lane] {
                1000 => Trouble::Asked,
                _ => Trouble::Otherwise,
            };
            assert_eq!(failure.own_error(), Some(expected));
            assert_eq!(failure.first, Cause::Own(expected as u32));
            let text = failure.to_string();
            let number = format!("own 3); first in block {}", failure.block);
            assert!(text.contains(&number), "{text}");
        }
        other => panic!("{other:?}"),
    }
    let contents = read_vectors(&world.pool, &lists).unwrap();
    for (i, list) in contents.iter().enumerate() {
        let count = if lengths[i] >= 1000 { 3 } else { 4 };
        assert_eq!(list, &(1..=count).collect::<Vec<_>>(), "list {i}");
    }
    let expected = lengths.map(|n| sum(1, if n >= 1000 { 3 } else { 4 }));
    assert_eq!(sums.to_vec().unwrap(), expected);
    // Far more than there is: the heap's own error, and again nothing is lost.
    match run(&mut lists, &mut sums, &[900; 90]) {
        Ok(_) => {}
        Err(error) => panic!("{error}"),
    }
    let all = [999; 90];
    let mut last = None;
    for _ in 0..100 {
        last = run(&mut lists, &mut sums, &all).err();
        if last.is_some() {
            break;
        }
    }
    match last {
        Some(DeviceError::Kernel(failure)) => {
            assert_eq!((failure.own(), failure.own_error::<Trouble>()), (0, None));
            assert!(matches!(failure.first, Cause::Heap(AllocError::Exhausted)));
        }
        other => panic!("{other:?}"),
    }
    world.free(lists);
}

/// A lane that panics leaves its list as it has become.
fn panics(site: &Site) {
    let world = World::new(site);
    let mut lists = world.lists(&[4; 50]);
    let mut asked = [0; 50];
    asked[20] = 1;
    let panics = world.vec(&asked);
    let run = || {
        world
            .kernels
            .push_and_panic(&world.pool, config(50), &mut lists, &panics)
    };
    let ended = catch_unwind(AssertUnwindSafe(run));
    assert!(!matches!(ended, Ok(Ok(_))), "the panic was not noticed");
    let contents = read_vectors(&world.pool, &lists).unwrap();
    // It grew by this element: what was there before is freed. (The emulator ends other lanes wherever they are.)
    assert_eq!(contents[20], [5, 6, 7, 8, 1]);
}

/// So does one that panics while it changes a list in a vector: it is empty, and no list that names what was freed.
fn panics_in_the_midst(site: &Site) {
    let world = World::new(site);
    let kernels = &world.kernels;
    let mut lists = world.zeroed::<HeapVec<HeapVec<u32>>>(30);
    let mut run = |panics: u32| {
        let mut asked = [0; 30];
        asked[11] = panics;
        let panics = world.vec(&asked);
        kernels.change_and_panic(&world.pool, config(30), &mut lists, &panics)
    };
    for _ in 0..4 {
        run(0).expect("pushed");
    }
    let ended = catch_unwind(AssertUnwindSafe(|| run(1)));
    assert!(!matches!(ended, Ok(Ok(_))), "the panic was not noticed");
    let mut lengths = world.zeroed(30);
    let looked = kernels.first_lengths(&world.pool, config(30), &lists, &mut lengths);
    looked.expect("lengths");
    assert_eq!(lengths.to_vec().unwrap()[11], 0);
}

/// All lanes run where all have to take part.
fn per_lane(site: &Site) {
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
fn scatter(site: &Site) {
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

/// Two heaps of two allocators, and one heap of one.
fn several_heaps(site: &Site) {
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
fn other_heaps(site: &Site) {
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
fn boxes(site: &Site) {
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

/// Words that all lanes change.
fn together(site: &Site) {
    let world = World::new(site);
    let words = world.vec(&[5000, 1000, 1, u32::MAX, 0, 0]);
    world.kernels.together(config(80), &words).expect("changed");
    let words = words.to_vec().unwrap();
    assert_eq!(words[..4], [5000 - sum(0, 80), 3, 82, 0]);
    // Each number was left there once, and taken out once but for the last.
    assert_eq!(words[4] + words[5], sum(1, 80));
}

/// Values that are no whole words.
fn scalars(site: &Site) {
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
fn one_for_all(site: &Site) {
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
fn handles_of_nothing(site: &Site) {
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
    links.copy_from(&[full; 5]).expect("links");
    let stream = device.stream().expect("a stream");
    stream.fill_zero(&mut links).expect("nothing");
    stream.wait().expect("the end");
    assert_eq!(links.to_vec().expect("links"), [nothing; 5]);
}

fn all(site: &Site) {
    own_elements(site);
    failures(site);
    per_lane(site);
    scatter(site);
    several_heaps(site);
    other_heaps(site);
    boxes(site);
    together(site);
    scalars(site);
    one_for_all(site);
    handles_of_nothing(site);
}

#[test]
fn host() {
    for width in [1, 4, 32] {
        let site = Site::host(width);
        all(&site);
        panics(&site);
        panics_in_the_midst(&site);
    }
}

warpheap_container_tests::on_gpus!(all);
