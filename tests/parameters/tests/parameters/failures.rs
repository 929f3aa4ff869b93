//! Lanes that fail, and lanes that panic.

use crate::world::{BLOCK, Lists, World, config, sum};
use std::panic::{AssertUnwindSafe, catch_unwind};
use warpheap_api::AllocError;
use warpheap_api::host::{Cause, DeviceError, DeviceVec};
use warpheap_container_tests::Site;
use warpheap_parameter_kernels::Trouble;
use warpheap_rt::container::HeapVec;
use warpheap_rt::host::container::read_vectors;

/// What a lane had when it failed is in its element; the launch tells the program's own error.
pub fn failures(site: &Site) {
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
pub fn panics(site: &Site) {
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
pub fn panics_in_the_midst(site: &Site) {
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
