//! Collections in kernels hold what `std`'s hold, and leave nothing behind.

use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_collection_kernels::collections::{
    boxes_of, branches_of, maps_of, nested_of, texts_of,
};
use warpheap_collection_kernels::in_heap::{PushInEntry, WriteInEntry};
use warpheap_collection_tests::{Site, assert_empty};
use warpheap_rt::adaptor::Failing;
use warpheap_rt::alloc::{Gallatin, WarpHeap};
use warpheap_rt::container::HeapString;
use warpheap_rt::host::container::read_strings;

/// The sum of what lane `lane` pushes.
fn pushed(lane: u32, pushes: u32) -> u32 {
    (0..pushes).fold(0, |sum: u32, k| sum.wrapping_add(lane * 31 + k))
}

/// Runs a kernel that leaves an answer for each lane, and holds these against `expected`.
fn answers(
    site: &Site,
    lanes: u32,
    what: &str,
    run: impl Fn(LaunchConfig, &DeviceVec<u32>) -> Result<(), DeviceError>,
    expected: impl Fn(u32) -> u32,
) {
    let out = DeviceVec::<u32>::zeroed(&site.device, lanes as usize).expect("room");
    run(LaunchConfig::for_num_elems(lanes), &out).unwrap_or_else(|error| panic!("{what}: {error}"));
    let out = out.to_vec().expect("readable");
    for (lane, got) in (0..).zip(out) {
        assert_eq!(got, expected(lane), "{what}, lane {lane}");
    }
}

/// Launches a kernel that leaves an answer for each lane.
type Launches<'a> = dyn Fn(LaunchConfig, &DeviceVec<u32>) -> Result<(), DeviceError> + 'a;

/// All collections of the crate `alloc`; `after` looks at the heap when a kernel has ended.
fn of_alloc(site: &Site, lanes: u32, after: impl Fn()) {
    let kernels = &site.kernels;
    let check = |what: &str, run: &Launches, expected: &dyn Fn(u32) -> u32| {
        answers(site, lanes, what, run, expected);
        after();
    };
    for pushes in [0, 1, 4, 5, 100] {
        let run = |config, out: &_| kernels.push(config, out, pushes).map(drop);
        check("push", &run, &|lane| pushed(lane, pushes));
    }
    let run = |config, out: &_| kernels.nested(config, out).map(drop);
    check("nested", &run, &nested_of);
    let run = |config, out: &_| kernels.boxes(config, out).map(drop);
    check("boxes", &run, &boxes_of);
    let run = |config, out: &_| kernels.texts(config, out).map(drop);
    check("texts", &run, &texts_of);
    let run = |config, out: &_| kernels.branches(config, out).map(drop);
    check("branches", &run, &branches_of);
    let run = |config, out: &_| kernels.maps(config, out).map(drop);
    check("maps", &run, &maps_of);
    let drops = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
    let run = |config, out: &_| kernels.shares(config, out, &drops).map(drop);
    check("shares", &run, &|lane| 4 + 3 * lane + 1);
    assert_eq!(drops.to_vec().expect("readable"), [lanes]);
}

/// Collections that hold their heap.
fn in_heap<A: HostAlloc + PushInEntry>(site: &Site, lanes: u32) {
    let pool = site.heap::<A>(64 << 20);
    for pushes in [0, 1, 5, 64] {
        let run = |config, out: &_| {
            site.kernels
                .push_in(&pool, config, out, pushes, 1)
                .map(drop)
        };
        answers(site, lanes, A::NAME, run, |lane| pushed(lane, pushes / 2));
        assert_empty(&pool);
    }
}

/// Every request for memory fails once: the kernel hears of it, and what it had goes back.
fn out_of_memory(site: &Site) {
    let pool = site.heap::<Failing<WarpHeap>>(8 << 20);
    let mut refused = 0;
    for n in 1.. {
        Failing::refuse(&pool, n).expect("writable");
        let out = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
        let config = LaunchConfig::for_num_elems(1);
        let result = site.kernels.push_in(&pool, config, &out, 20, 0);
        assert_empty(&pool);
        match result {
            Err(DeviceError::Kernel(failure)) => assert_eq!(failure.by_cause, [1, 0, 0]),
            Err(error) => panic!("request {n}: {error}"),
            Ok(_) => break,
        }
        refused += 1;
    }
    // Capacities 4, 8, 16 and 32, and the box.
    assert_eq!(refused, 5);
}

/// What `write_in` appends.
fn written(lane: usize, number: u64) -> String {
    let real = number as f64;
    format!("{lane:?} {number:>20} {real:e} {:?}", "grün")
}

/// Rust's own `write!` into the string of each lane. When the `refused`-th malloc gives nothing, what was written before stays.
fn write<A: HostAlloc + WriteInEntry>(
    site: &Site,
    pool: &Pool<A>,
    lanes: usize,
) -> Result<(), DeviceError> {
    let mut strings = DeviceVec::<HeapString>::zeroed(&site.device, lanes).expect("strings");
    let (kernels, config) = (&site.kernels, LaunchConfig::for_num_elems(lanes as u32));
    let mut all = vec![String::new(); lanes];
    let mut result = Ok(());
    for number in [0, u64::MAX, 1 << 60] {
        result = kernels
            .write_in(pool, config, &mut strings, number, 0)
            .map(drop);
        let read = read_strings(pool, &strings).expect("strings");
        for (lane, (all, read)) in all.iter_mut().zip(read).enumerate() {
            let before = all.len();
            *all += &written(lane, number);
            assert!(
                all.as_bytes().starts_with(&read) && before <= read.len(),
                "{all}"
            );
            assert!(result.is_err() || read.len() == all.len(), "{all}");
        }
        if result.is_err() {
            break;
        }
    }
    kernels
        .write_in(pool, config, &mut strings, 0, 1)
        .expect("freed");
    assert_empty(pool);
    result
}

fn writes(site: &Site, lanes: usize) {
    write(site, &site.heap::<WarpHeap>(64 << 20), lanes).expect("room");
    let pool = site.heap::<Failing<WarpHeap>>(8 << 20);
    let mut refused = 0;
    for n in 1.. {
        Failing::refuse(&pool, n).expect("writable");
        match write(site, &pool, 1) {
            Err(DeviceError::Kernel(failure)) => assert_eq!(failure.by_cause, [1, 0, 0]),
            Err(error) => panic!("request {n}: {error}"),
            Ok(()) => break,
        }
        refused += 1;
    }
    // Capacities of 4 words that double, to 128 bytes and more.
    assert!(refused > 3, "{refused}");
}

#[test]
fn host_writes() {
    for width in [1, 4, 8, 32, 64] {
        writes(&Site::host(width), 300);
    }
}

#[test]
fn host_collections() {
    for width in [1, 4, 8, 32, 64] {
        of_alloc(&Site::host(width), 600, || ());
    }
}

#[test]
fn host_collections_in_heaps() {
    for width in [1, 4, 8, 32, 64] {
        let site = Site::host(width);
        in_heap::<WarpHeap>(&site, 600);
        in_heap::<Gallatin>(&site, 300);
    }
}

#[test]
fn host_out_of_memory() {
    out_of_memory(&Site::host(4));
}

#[test]
fn explored_collections_in_heaps() {
    for seed in 0..12 {
        in_heap::<WarpHeap>(&Site::explored(4, seed), 40);
    }
}

#[cfg(feature = "cuda")]
mod cuda {
    use super::*;

    #[test]
    fn collections() {
        let Some(site) = Site::cuda() else { return };
        let pool = site.heap::<WarpHeap>(1 << 30);
        site.kernels.bind_heap(&pool).expect("bound");
        for lanes in [1, 600, 100_000] {
            of_alloc(&site, lanes, || assert_empty(&pool));
        }
    }

    #[test]
    fn collections_in_heaps() {
        let Some(site) = Site::cuda() else { return };
        in_heap::<WarpHeap>(&site, 50_000);
        in_heap::<Gallatin>(&site, 20_000);
    }

    #[test]
    fn written_by_rust() {
        if let Some(site) = Site::cuda() {
            writes(&site, 20_000);
        }
    }

    #[test]
    fn memory_runs_out() {
        if let Some(site) = Site::cuda() {
            out_of_memory(&site);
        }
    }
}
