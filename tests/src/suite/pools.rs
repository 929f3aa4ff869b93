//! Pools: bad sizes, statistics.

use super::{ROOMY, Subject, least};
use crate::heap::{Failures, malloc};
use crate::{Site, TestHeap};
use warpheap_api::host::{DeviceError, PlanError};
use warpheap_test_kernels::program::Op;

/// A pool that is too small is refused with the size that would do, and that size does.
pub fn too_small<A: Subject>(site: &Site) {
    let least = least::<A>();
    for bytes in [0, 1, 15, 16, 1000, least - 16, least - 1] {
        match site.device.reserve::<A>(bytes) {
            Err(DeviceError::Plan(PlanError::TooSmall { allocator, .. })) => {
                assert_eq!(allocator, A::NAME);
            }
            other => panic!("{}: {bytes} bytes: {other:?}", A::NAME),
        }
    }
    let mut heap = TestHeap::<A>::new(site, least, 1);
    heap.run(&[vec![malloc(0, 1)]], Failures::None);
    heap.check_all();
}

/// A pool beyond the reach of a handle, or beyond the device, is refused and nothing is kept.
pub fn too_large<A: Subject>(site: &Site) {
    for bytes in [64u64 << 30, (64 << 30) + 16, 1 << 40, u64::MAX] {
        match site.device.reserve::<A>(bytes) {
            Err(DeviceError::Plan(PlanError::TooLarge { .. })) => {}
            other => panic!("{}: {bytes} bytes: {other:?}", A::NAME),
        }
    }
    let info = site.device.info();
    let beyond = info.memory_bytes.max(info.max_buffer_bytes) + (1 << 20);
    if beyond < 64 << 30 {
        match site.device.reserve::<A>(beyond) {
            Err(DeviceError::OutOfMemory { .. } | DeviceError::TooLarge { .. }) => {}
            other => panic!("{}: {beyond} bytes: {other:?}", A::NAME),
        }
    }
    site.device
        .reserve::<A>(ROOMY)
        .expect("the device is as usable as before");
}

/// Statistics tell how much is in use.
pub fn stats_tell_usage<A: Subject>(site: &Site) {
    let lanes = 90;
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes);
    let fresh = heap.pool.stats().expect("stats");
    assert_eq!((fresh.allocator, fresh.pool_bytes), (A::NAME, ROOMY));
    assert_eq!((fresh.usage.used_bytes, fresh.failures), (0, [0; 3]));
    assert!(fresh.metadata_bytes > 0 && fresh.metadata_bytes < ROOMY / 4);
    let program: Vec<Vec<Op>> = (0..lanes).map(|lane| vec![malloc(lane, 50)]).collect();
    heap.run(&program, Failures::None);
    let usage = heap.pool.stats().expect("stats").usage;
    assert!(usage.used_bytes >= heap.live_bytes(), "{usage:?}");
    assert!(usage.committed_bytes >= usage.used_bytes, "{usage:?}");
    assert!(usage.used_bytes < ROOMY / 4, "{usage:?}");
    let live = usage.live_blocks.unwrap_or(lanes as u64);
    assert_eq!(live, lanes as u64);
}
