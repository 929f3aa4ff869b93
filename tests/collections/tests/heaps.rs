//! Collections allocate in a heap of whatever allocator their kernel is launched with.

use warpheap_api::host::{DeviceVec, HostAlloc, LaunchConfig};
use warpheap_collection_tests::{Site, assert_empty};
use warpheap_global_heap_kernels::{Kernels, PushEntry, PushInEntry};
use warpheap_rt::device::*;

/// Bytes of the largest vector: 16 numbers.
const LARGEST: u32 = 64;

/// Bytes of the pool for each lane: room for a chunk of 8 KiB for each size.
const EACH: u64 = 32 << 10;

fn pushes<A: HostAlloc + PushEntry + PushInEntry>(site: &Site, kernels: &Kernels, lanes: u32) {
    let config = A::config_for(LARGEST);
    let bytes = u64::from(lanes) * EACH;
    let pool = site.device.reserve_with::<A>(bytes, &config);
    let pool = pool.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
    kernels.bind_heap(&pool).expect("bound");
    let sums = DeviceVec::<u32>::zeroed(&site.device, lanes as usize).expect("room");
    let shape = LaunchConfig::for_num_elems(lanes);
    for pushes in [1, 16] {
        for held in [false, true] {
            let done = match held {
                false => kernels.push(&pool, shape, &sums, pushes),
                true => kernels.push_in(&pool, shape, &sums, pushes),
            };
            done.unwrap_or_else(|error| panic!("{}, held: {held}: {error}", A::NAME));
            let sum = |lane: u32| (0..pushes).map(|k| lane * 31 + k).sum::<u32>();
            let expected: Vec<u32> = (0..lanes).map(sum).collect();
            assert!(sums.to_vec().expect("sums") == expected, "{}", A::NAME);
        }
    }
    if A::CAPS.frees {
        assert_empty(&pool);
    }
}

fn all(site: &Site, lanes: u32) {
    let kernels = site.any_heap();
    macro_rules! each {
        ($($allocator:ident),* $(,)?) => {$(
            pushes::<$allocator>(site, &kernels, lanes);
        )*};
    }
    warpheap_rt::for_each_allocator!(each);
}

#[test]
fn host() {
    for width in [1, 4, 8, 32, 64] {
        all(&Site::host(width), 200);
    }
}

#[cfg(feature = "cuda")]
#[test]
fn cuda() {
    if let Some(site) = Site::cuda() {
        all(&site, 20_000);
    }
}

/// Kernels that are no allocator's have no heap, and say so.
#[cfg(feature = "cuda")]
#[test]
fn cuda_without_an_allocator() {
    if let Some(site) = Site::cuda() {
        let lengths = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
        let shape = LaunchConfig::for_num_elems(1);
        let error = site.any_heap().text(shape, &lengths).expect_err("no heap");
        let text = error.to_string();
        assert!(text.contains("generic over the allocator"), "{text}");
    }
}

/// A heap that is bound and grows is bound with its new size: without binding it again there is room for all.
#[cfg(feature = "cuda")]
#[test]
fn cuda_heaps_grow() {
    if let Some(site) = Site::cuda() {
        let lanes = 20_000;
        let (kernels, device) = (site.any_heap(), &site.device);
        let mut pool = device
            .reserve_growing::<WarpHeap>(8 << 20, 1 << 30)
            .expect("a pool");
        kernels.bind_heap(&pool).expect("bound");
        let sums = DeviceVec::<u32>::zeroed(device, lanes).expect("room");
        let shape = LaunchConfig::for_num_elems(lanes as u32);
        let all = u64::from(lanes as u32) * EACH;
        for bytes in [all, all + (64 << 20)] {
            pool.grow_to(bytes).expect("it grows");
            kernels
                .push(&pool, shape, &sums, 16)
                .expect("there is room");
            let sum = |lane: u32| (0..16).map(|k| lane * 31 + k).sum::<u32>();
            let expected: Vec<u32> = (0..lanes as u32).map(sum).collect();
            assert!(sums.to_vec().expect("sums") == expected);
            assert_empty(&pool);
            pool.shrink_to_fit().expect("it shrinks");
        }
    }
}
