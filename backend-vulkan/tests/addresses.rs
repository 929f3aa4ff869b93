//! Kernels that find buffers by their addresses, because no descriptor shows so many bytes. Here descriptors are told to show fewer.

mod common;

use warpheap_api::host::{Device, DeviceVec, LaunchConfig, Pool};
use warpheap_kernels::maps::DeviceHashMap;
use warpheap_rt::device::{Bump, WarpHeap};
use warpheap_vulkan::{VulkanConfig, open_unchecked};

/// A device whose descriptors show so many bytes.
fn device(descriptor_bytes: u64) -> Option<Device> {
    let config = VulkanConfig {
        descriptor_bytes: Some(descriptor_bytes),
        ..common::config()
    };
    common::unless_absent(open_unchecked(&config))
}

#[test]
fn a_device_without_descriptors_passes() {
    let Some(device) = device(0) else { return };
    warpheap_kernels::selftest::check(&device).unwrap();
}

#[test]
fn a_heap_by_address_works_beside_arrays_by_descriptor() {
    let Some(device) = device(1 << 20) else {
        return;
    };
    let device = warpheap_kernels::calls::attach(&device).unwrap();
    // Kernels of the second pool find it by descriptor: the same kernel is there both ways.
    for bytes in [4 << 20, 1 << 20] {
        let pool: Pool<WarpHeap> = device.reserve(bytes).unwrap();
        let pairs: Vec<(u32, u32)> = (0..5000).map(|i| (i * 7, !i)).collect();
        let map = DeviceHashMap::from_pairs(&pool, &pairs).unwrap();
        let keys: Vec<u32> = (0..35_000).collect();
        let values = map.get_all(&keys).unwrap();
        for (key, value) in keys.into_iter().zip(values) {
            let there = key % 7 == 0;
            assert_eq!(value, there.then_some(!(key / 7)), "{key}");
        }
    }
}

#[test]
fn a_heap_that_grows_beyond_descriptors_keeps_what_is_in_it() {
    let Some(device) = device(1 << 20) else {
        return;
    };
    let mut pool: Pool<Bump> = device.reserve_growing(1 << 20, 8 << 20).unwrap();
    let kernels = warpheap_kernels::load(&device).unwrap();
    let sums = DeviceVec::<u32>::zeroed(&device, 64).unwrap();
    let shape = LaunchConfig::for_num_elems(64);
    kernels.selftest_vectors(&pool, shape, &sums).unwrap();
    let (before, used) = (
        sums.to_vec().unwrap(),
        pool.stats().unwrap().usage.used_bytes,
    );
    pool.grow_to(5 << 20).unwrap();
    assert_eq!(pool.stats().unwrap().usage.used_bytes, used);
    kernels.selftest_vectors(&pool, shape, &sums).unwrap();
    assert_eq!(sums.to_vec().unwrap(), before);
    assert!(pool.stats().unwrap().usage.used_bytes > used);
}

#[test]
fn a_slice_begins_where_it_does_by_address_too() {
    let Some(device) = device(0) else { return };
    let kernels = warpheap_kernels::load(&device).unwrap();
    let (buffer, ..) = DeviceVec::<u32>::zeroed(&device, 256)
        .unwrap()
        .into_raw_parts();
    // SAFETY: nobody else has this memory.
    let part = unsafe { DeviceVec::<u32>::from_raw_parts(buffer.clone(), 256, 64) }.unwrap();
    let shape = LaunchConfig::for_num_elems(64);
    kernels.selftest_index(shape, &part).unwrap();
    // SAFETY: nobody else has this memory.
    let whole = unsafe { DeviceVec::<u32>::from_raw_parts(buffer, 0, 256) }.unwrap();
    let want = |i: u32| if (64..128).contains(&i) { i - 63 } else { 0 };
    let found = whole.to_vec().unwrap();
    assert!(
        (0..).zip(&found).all(|(i, found)| *found == want(i)),
        "{found:?}"
    );
}
