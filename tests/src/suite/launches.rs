//! Launches: errors of kernels, bad shapes.

use super::ROOMY;
use crate::Site;
use warpheap_api::AllocError;
use warpheap_api::host::{Cause, DeviceError, DeviceVec, LaunchConfig};
use warpheap_rt::alloc::WarpHeap;

/// Makes tests of this module's functions; `fn site() -> Option<Site>` must be in scope.
#[macro_export]
macro_rules! launch_tests {
    () => {
        $crate::launch_tests! { kernel_errors, bad_shapes, last_block, run_all_in_order, same_memory_twice, parts_of_vectors }
    };
    ($($test:ident),*) => {$(
        #[test]
        fn $test() {
            if let Some(site) = site() {
                $crate::suite::launches::$test(&site);
            }
        }
    )*};
}

/// Errors that lanes return reach the host: how many, why, and where the first was.
pub fn kernel_errors(site: &Site) {
    let config = LaunchConfig {
        grid_dim: 5,
        block_dim: 60,
    };
    let mut codes = vec![0u32; 300];
    let run = |codes: &[u32]| {
        let codes = DeviceVec::from_slice(&site.device, codes).expect("codes");
        site.kernels.fail(config, &codes)
    };
    run(&codes).expect("no lane fails");
    codes[187] = 2;
    match run(&codes) {
        Err(DeviceError::Kernel(failure)) => {
            assert!(failure.kernel.starts_with("fail"), "{failure}");
            assert_eq!((failure.lanes, failure.by_cause), (1, [0, 1, 0]));
            assert_eq!(failure.first, Cause::Heap(AllocError::Contended));
            assert_eq!((failure.block, failure.lane), (3, 7));
        }
        other => panic!("{other:?}"),
    }
    for (lane, code) in codes.iter_mut().enumerate() {
        *code = [3, 0, 1, 1, 2][lane % 5];
    }
    match run(&codes) {
        Err(DeviceError::Kernel(failure)) => {
            assert_eq!((failure.lanes, failure.by_cause), (240, [120, 60, 60]));
            let first = codes[(failure.block * 60 + failure.lane) as usize];
            let first = AllocError::from_code(first);
            assert_eq!(Cause::Heap(first), failure.first);
        }
        other => panic!("{other:?}"),
    }
    run(&[]).expect("an error of one launch is not there in the next");
}

/// Launches that cannot be are refused with what would do, and nothing runs.
pub fn bad_shapes(site: &Site) {
    let info = site.device.info();
    let values = DeviceVec::<u32>::zeroed(&site.device, 4).expect("values");
    let shape = |grid_dim, block_dim| LaunchConfig {
        grid_dim,
        block_dim,
    };
    let mut bad = vec![
        (shape(0, 64), "at least 1"),
        (shape(1, 0), "at least 1"),
        (shape(0, 0), "at least 1"),
        (shape(1, info.max_block_dim + 1), "the device allows"),
        (shape(1, u32::MAX), "the device allows"),
    ];
    if let Some(blocks) = info.max_grid_dim.checked_add(1) {
        bad.push((shape(blocks, 1), "the device allows"));
    }
    if info.max_grid_dim as u64 * info.max_block_dim as u64 > u32::MAX as u64 {
        bad.push((shape(info.max_grid_dim, info.max_block_dim), "2^32"));
    }
    for (config, why) in bad {
        match site.kernels.increment(config, &values) {
            Err(DeviceError::BadLaunch { kernel, why: said }) => {
                assert!(kernel.starts_with("increment"), "{kernel}");
                assert!(said.contains(why), "{config:?}: {said}");
            }
            other => panic!("{config:?}: {other:?}"),
        }
    }
    assert_eq!(values.to_vec().expect("values"), [0; 4]);
}

/// Lanes beyond the slice do nothing, whatever the shape; blocks of every size run.
pub fn last_block(site: &Site) {
    for (len, block_dim) in [(1, 1), (7, 3), (1000, 64), (1000, 77), (0, 64), (129, 128)] {
        let values = DeviceVec::<u32>::zeroed(&site.device, len).expect("values");
        let config = LaunchConfig {
            grid_dim: (len as u32).div_ceil(block_dim).max(1) + 1,
            block_dim,
        };
        site.kernels.increment(config, &values).expect("it runs");
        assert_eq!(values.to_vec().expect("values"), vec![1; len]);
    }
    // More blocks than one dimension of a grid holds on many devices.
    let values = DeviceVec::<u32>::zeroed(&site.device, 70_000).expect("values");
    let config = LaunchConfig {
        grid_dim: 70_000,
        block_dim: 1,
    };
    site.kernels.increment(config, &values).expect("it runs");
    assert_eq!(values.to_vec().expect("values"), vec![1; 70_000]);
}

/// Launches that are queued together run one after the other, each with its own report.
pub fn run_all_in_order(site: &Site) {
    let values = DeviceVec::<u32>::zeroed(&site.device, 500).expect("values");
    let codes = DeviceVec::from_slice(&site.device, &[0, 3, 3]).expect("codes");
    let config = LaunchConfig::for_num_elems(500);
    let kernels = &site.kernels;
    let mut launches: Vec<_> = (0..10)
        .map(|_| kernels.increment_launch(config, &values))
        .collect();
    launches.insert(4, kernels.fail_launch(config, &codes));
    let reports = site.device.run_all(&launches).expect("all run");
    assert_eq!(values.to_vec().expect("values"), [10; 500]);
    assert_eq!(reports.len(), launches.len());
    for (i, report) in reports.iter().enumerate() {
        let lanes = report.failure("fail").map_or(0, |failure| failure.lanes);
        assert_eq!(lanes, if i == 4 { 2 } else { 0 }, "launch {i}");
    }
}

/// A kernel has what it changes for itself: the same memory twice is refused, and what it only reads may be the same.
pub fn same_memory_twice(site: &Site) {
    let pool = site.device.reserve::<WarpHeap>(ROOMY).expect("a heap");
    let vec = DeviceVec::<u32>::zeroed(&site.device, 1024).expect("a vector");
    let (buffer, _, _) = vec.into_raw_parts();
    let outers = |offset, len| {
        // SAFETY: nobody else has this memory.
        let part = unsafe { DeviceVec::from_raw_parts(buffer.clone(), offset, len) };
        part.expect("it lies inside")
    };
    let sums = |offset, len| {
        // SAFETY: nobody else has this memory.
        let part = unsafe { DeviceVec::<u32>::from_raw_parts(buffer.clone(), offset, len) };
        part.expect("it lies inside")
    };
    let one = LaunchConfig::for_num_elems(1);
    let sum = |outers: &mut _, sums: &mut _| site.kernels.sum_nested(&pool, one, outers, sums);
    // 100 empty vectors take 1200 bytes, 85 of them 1020.
    match sum(&mut outers(0, 100), &mut sums(1024, 100)) {
        Err(DeviceError::BadLaunch { kernel, why }) => {
            assert!(kernel.starts_with("sum_nested"), "{kernel}");
            assert!(
                why.contains("arguments 2 and 3 are the same memory"),
                "{why}"
            );
        }
        other => panic!("{other:?}"),
    }
    sum(&mut outers(0, 85), &mut sums(1024, 85)).expect("they lie side by side");
    // An empty vector shares nothing.
    sum(&mut outers(0, 0), &mut sums(0, 4)).expect("nothing is shared");
}

/// Parts of vectors are copied from and to the host, on the device and to another one; what lies outside is refused.
pub fn parts_of_vectors(site: &Site) {
    let device = &site.device;
    let mut vec = DeviceVec::filled(device, 1000, 7u32).expect("a vector");
    let pairs = DeviceVec::filled(device, 3, [1u32, 2]).expect("a vector");
    assert_eq!(pairs.to_vec().expect("pairs"), [[1, 2]; 3]);
    vec.copy_range_from(990, &[1, 2, 3])
        .expect("they lie inside");
    let mut part = [0; 6];
    vec.copy_range_to(988, &mut part).expect("they lie inside");
    assert_eq!(part, [7, 7, 1, 2, 3, 7]);
    let mut other = DeviceVec::<u32>::zeroed(device, 20).expect("a vector");
    let copied = other.copy_range_from_vec(2, &vec, 989..994);
    copied.expect("they lie inside");
    let expected = [0, 0, 7, 1, 2, 3, 7, 0];
    assert_eq!(other.to_vec().expect("the vector")[..8], expected);
    other.copy_range_from_vec(20, &vec, 5..5).expect("nothing");
    let far = 998..1001;
    for refused in [
        other.copy_range_from_vec(18, &vec, 0..3),
        other.copy_range_from_vec(0, &vec, far),
        other.copy_range_from(usize::MAX, &[1]),
        other.copy_range_to(15, &mut part),
    ] {
        assert!(matches!(refused, Err(DeviceError::OutOfRange { .. })));
    }
    assert_eq!(other.to_vec().expect("the vector")[..8], expected);
    let mut elsewhere = DeviceVec::<u32>::zeroed(&Site::host(2).device, 3).expect("a vector");
    let copied = elsewhere.copy_range_from_vec(0, &vec, 989..991);
    copied.expect("it is copied to another device");
    assert_eq!(elsewhere.to_vec().expect("the vector"), [7, 1, 0]);
}
