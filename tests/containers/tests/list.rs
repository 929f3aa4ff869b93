//! `HeapList`: what many lanes append at once, and what one does alone.

use warpheap_api::host::{DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_container_kernels::list::{OwnListsEntry, PENDING, PushToListsEntry, ReadListsEntry};
use warpheap_container_tests::{Site, assert_empty, seeds};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::RandomWalkMalloc;
use warpheap_rt::container::HeapList;

const EXHAUSTED: u32 = 1;
const CONTENDED: u32 = 2;

/// An allocator that the kernels are compiled for.
trait Subject: HostAlloc + PushToListsEntry + ReadListsEntry + OwnListsEntry {}
impl<A: HostAlloc + PushToListsEntry + ReadListsEntry + OwnListsEntry> Subject for A {}

/// How lanes append: `lanes` of them, in blocks of `block`, `each` elements each, to one of `lists` lists; so
/// many lanes in a row come to the same.
#[derive(Clone, Copy, Debug)]
struct Shape {
    lanes: u32,
    block: u32,
    each: u32,
    lists: u32,
    stride: u32,
}

/// Appends from all lanes, with request `refused` failing; the codes.
fn push<A: Subject>(
    site: &Site,
    pool: &Pool<A>,
    heads: &DeviceVec<u32>,
    shape: Shape,
    codes: &DeviceVec<u32>,
) {
    let config = LaunchConfig {
        grid_dim: shape.lanes.div_ceil(shape.block),
        block_dim: shape.block,
    };
    let at = heads.heap_ptr().expect("in the heap");
    let (lists, stride, each) = (shape.lists, shape.stride, shape.each);
    let launch = site
        .kernels
        .push_to_lists(pool, config, at, lists, stride, each, codes);
    launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
}

/// What is in the lists must be what the codes say was appended, in the order of each lane and chunk; then
/// nothing is left in the heap.
fn check<A: Subject>(
    site: &Site,
    pool: &Pool<A>,
    heads: DeviceVec<u32>,
    shape: Shape,
    codes: &[u32],
) {
    let mut expected = vec![Vec::new(); shape.lists as usize];
    for (slot, code) in codes.iter().enumerate() {
        let (lane, k) = (slot as u32 / shape.each, slot as u32 % shape.each);
        if *code == 0 {
            expected[((lane + k) / shape.stride % shape.lists) as usize].push([lane, k]);
        }
    }
    let room = codes.len() + 1;
    let lens = DeviceVec::<u32>::zeroed(&site.device, shape.lists as usize).expect("lengths");
    let found = vec![[u32::MAX; 2]; room * shape.lists as usize];
    let found = DeviceVec::from_slice(&site.device, &found).expect("room");
    let at = heads.heap_ptr().expect("in the heap").cast();
    let config = LaunchConfig::for_num_elems(shape.lists);
    let launch = site
        .kernels
        .read_lists(pool, config, at, room as u32, &lens, &found);
    launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
    let (lens, found) = (
        lens.to_vec().expect("lengths"),
        found.to_vec().expect("found"),
    );
    for (list, expected) in expected.iter().enumerate() {
        let mut found = found[list * room..][..lens[list] as usize].to_vec();
        found.sort();
        assert_eq!(&found, expected, "{}: list {list} of {shape:?}", A::NAME);
    }
    drop(heads);
    assert_empty(pool);
}

/// All lanes append until each has; nothing is lost, nothing is there twice.
fn all_push<A: Subject>(site: &Site, shape: Shape) {
    let pool = site.heap::<A>(32 << 20);
    let heads = DeviceVec::zeroed_in(&pool, shape.lists as usize).expect("heads");
    let mut left = vec![PENDING; (shape.lanes * shape.each) as usize];
    // Only that others were quicker excuses a lane, and not for ever.
    for _ in 0..100 {
        let codes = DeviceVec::from_slice(&site.device, &left).expect("codes");
        push(site, &pool, &heads, shape, &codes);
        left = codes.to_vec().expect("codes");
        for code in left.iter_mut().filter(|code| **code != 0) {
            assert_eq!(*code, CONTENDED, "{}: {shape:?}", A::NAME);
            *code = PENDING;
        }
        if left.iter().all(|code| *code == 0) {
            break;
        }
    }
    assert!(left.iter().all(|code| *code == 0), "{}: {shape:?}", A::NAME);
    check(site, &pool, heads, shape, &left);
}

/// One list for all lanes, one for each group of lanes, and neighbours to different ones.
fn shapes<A: Subject>(site: &Site) {
    let lanes = if site.is_slow() { 300 } else { 20_000 };
    for (lists, stride) in [(1, 1), (7, 5), (64, 1)] {
        all_push::<A>(
            site,
            Shape {
                lanes,
                block: 96,
                each: 5,
                lists,
                stride,
            },
        );
    }
}

/// Each request of a launch fails once, until there is none to fail: those lanes' elements are not there, all
/// others are.
fn runs_out(site: &Site, shape: Shape) {
    let pool = site.heap::<Failing<RandomWalkMalloc>>(16 << 20);
    let mut failures = 0;
    for n in 1.. {
        let heads = DeviceVec::zeroed_in(&pool, shape.lists as usize).expect("heads");
        let pending = vec![PENDING; (shape.lanes * shape.each) as usize];
        let codes = DeviceVec::from_slice(&site.device, &pending).expect("codes");
        Failing::refuse(&pool, n).expect("refuses");
        push(site, &pool, &heads, shape, &codes);
        Failing::refuse(&pool, 0).expect("refuses none");
        let codes = codes.to_vec().expect("codes");
        assert!(
            codes
                .iter()
                .all(|code| [0, EXHAUSTED, CONTENDED].contains(code))
        );
        let refused = codes.contains(&EXHAUSTED);
        check(site, &pool, heads, shape, &codes);
        if !refused {
            break;
        }
        failures += 1;
    }
    assert!(failures >= shape.lists, "{failures} requests failed");
}

/// Lists that belong to lanes, filled in two launches, read, and freed in the second.
fn owned<A: Subject>(site: &Site) {
    let pool = site.heap::<A>(16 << 20);
    let lanes = 70;
    let lists = DeviceVec::<HeapList<u32>>::zeroed(&site.device, lanes).expect("lists");
    let sums = DeviceVec::<u32>::zeroed(&site.device, lanes).expect("sums");
    let numbers = |launch: u32| {
        (0..lanes as u32)
            .map(|i| i * 7 % 50 * (1 + launch * 20))
            .collect()
    };
    let mut expected = vec![0; lanes];
    for launch in 0..2 {
        let numbers: Vec<u32> = numbers(launch);
        let given = DeviceVec::from_slice(&site.device, &numbers).expect("numbers");
        let config = LaunchConfig {
            grid_dim: 2,
            block_dim: 40,
        };
        let launch = site
            .kernels
            .own_lists(&pool, config, &lists, &given, &sums, launch);
        launch.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        for (i, sum) in expected.iter_mut().enumerate() {
            *sum += (0..numbers[i]).map(|k| i as u32 + k).sum::<u32>();
        }
        assert_eq!(sums.to_vec().expect("sums"), expected, "{}", A::NAME);
    }
    assert_empty(&pool);
}

/// A list whose owner gets no chunk is as it was.
fn owner_runs_out(site: &Site) {
    let pool = site.heap::<Failing<RandomWalkMalloc>>(16 << 20);
    for n in 1..=5 {
        let lists = DeviceVec::<HeapList<u32>>::zeroed(&site.device, 1).expect("lists");
        let sums = DeviceVec::<u32>::zeroed(&site.device, 1).expect("sums");
        // Chunks of 4, 8, 16 and 32: four requests, and one push fails.
        let numbers = DeviceVec::from_slice(&site.device, &[50]).expect("numbers");
        let config = LaunchConfig {
            grid_dim: 1,
            block_dim: 1,
        };
        Failing::refuse(&pool, n).expect("refuses");
        let result = site
            .kernels
            .own_lists(&pool, config, &lists, &numbers, &sums, 1);
        assert_eq!(result.is_err(), n < 5);
        let lost = [0, 4, 12, 28, 0][n as usize - 1];
        let sum = 49 * 50 / 2 - lost;
        assert_eq!(sums.to_vec().expect("sums"), [sum], "request {n}");
        assert_empty(&pool);
    }
}

fn everything(site: &Site) {
    shapes::<RandomWalkMalloc>(site);
    owned::<RandomWalkMalloc>(site);
    runs_out(
        site,
        Shape {
            lanes: 40,
            block: 20,
            each: 3,
            lists: 3,
            stride: 2,
        },
    );
    owner_runs_out(site);
}

mod host {
    use super::*;

    #[test]
    fn at_every_width() {
        for width in [1, 4, 8, 32, 64] {
            everything(&Site::host(width));
        }
    }

    #[test]
    fn explored() {
        for width in [1, 4, 32] {
            for seed in seeds(150) {
                let site = Site::explored(width, seed);
                let lists = 1 + seed as u32 % 3;
                let shape = Shape {
                    lanes: width * 3 - 1 + (width == 1) as u32,
                    block: width * 2,
                    each: 4,
                    lists,
                    stride: 1,
                };
                let run = || all_push::<RandomWalkMalloc>(&site, shape);
                if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
                    eprintln!("the failing schedule: width {width}, seed {seed}, {shape:?}");
                    std::panic::resume_unwind(panic);
                }
                if seed % 10 == 0 {
                    runs_out(&site, shape);
                }
            }
        }
    }
}

warpheap_container_tests::on_gpus!(everything);
