//! Launches: their order, shapes, arguments, reports and times.

mod common;

use common::device;
use std::time::Duration;
use warpheap_api::host::{Arg, Device, DeviceError, DeviceVec, LaunchConfig, Prepared};
use warpheap_kernels::{Kernels, load};

fn setting() -> Option<(Device, Kernels)> {
    let device = device()?;
    let kernels = load(&device).unwrap();
    Some((device, kernels))
}

fn shape(grid_dim: u32, block_dim: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim,
        block_dim,
    }
}

fn zeros(device: &Device, len: usize) -> DeviceVec<u32> {
    DeviceVec::zeroed(device, len).unwrap()
}

/// The same launch with arguments of the caller's.
fn with_args(kernels: &Kernels, like: &Prepared, args: Vec<Arg>) -> Prepared {
    let launch = like.launch().unwrap();
    // SAFETY: callers pass what the kernel takes, or what the backend must refuse.
    unsafe {
        Prepared::new(
            kernels.module("").clone(),
            launch.entry,
            launch.host,
            launch.config,
            args,
        )
    }
}

fn refusal(result: Result<impl Sized, DeviceError>) -> String {
    match result {
        Err(error @ DeviceError::BadLaunch { .. }) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("was launched"),
    }
}

#[test]
fn each_launch_of_a_batch_sees_what_those_before_wrote() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    // More than two submissions.
    const LAUNCHES: usize = 600;
    let out = zeros(&device, 1000);
    let launch = || kernels.selftest_index_launch(LaunchConfig::for_num_elems(1000), &out);
    let batch: Vec<_> = (0..LAUNCHES).map(|_| launch()).collect();
    let reports = device.run_all(&batch).unwrap();
    assert_eq!(reports.len(), LAUNCHES);
    assert!(reports.iter().all(|report| report.words == [0; 8]));
    for (i, found) in (1..).zip(out.to_vec().unwrap()) {
        assert_eq!(found, LAUNCHES as u32 * i);
    }
    assert!(device.run_all(&[]).unwrap().is_empty());
}

#[test]
fn launches_are_timed_one_by_one() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let (small, large) = (zeros(&device, 64), zeros(&device, 1 << 22));
    let config = LaunchConfig::for_num_elems;
    let run = || {
        device
            .run_all(&[
                kernels.selftest_index_launch(config(64), &small),
                kernels.selftest_index_launch(config(1 << 22), &large),
                kernels.selftest_index_launch(config(64), &small),
            ])
            .unwrap()
    };
    // The best of several: on a driver that computes on the CPU, other programs take time too.
    let mut best = [Duration::MAX; 3];
    for _ in 0..8 {
        for (best, report) in best.iter_mut().zip(run()) {
            *best = report.device_time.min(*best);
        }
    }
    assert!(
        best[0] > Duration::ZERO && best[2] > Duration::ZERO,
        "{best:?}"
    );
    assert!(best[1] > best[0] && best[1] > best[2], "{best:?}");
    assert!(best[1] < Duration::from_secs(60), "{best:?}");
}

#[test]
fn a_pause_does_not_slow_launches_that_keep_pace() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let driver = &device.info().driver;
    if driver.contains("SwiftShader") || driver.contains("llvmpipe") {
        // They have no clock of their own, and other programs on the CPU slow them down.
        return;
    }
    let out = zeros(&device, 1 << 22);
    let launch = kernels.selftest_index_launch(LaunchConfig::for_num_elems(1 << 22), &out);
    let run = || device.run_all(std::slice::from_ref(&launch)).unwrap()[0].device_time;
    device.keep_pace(true);
    let best = (0..8).map(|_| run()).min().unwrap();
    std::thread::sleep(Duration::from_secs(5));
    let later = run();
    assert!(
        later < best * 2,
        "{later:?} behind a pause, {best:?} before"
    );
}

#[test]
fn the_compiler_tells_what_it_made_or_nothing() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let out = zeros(&device, 1);
    let launch = kernels.selftest_index_launch(shape(1, 1), &out);
    let module = launch.module().id().unwrap();
    let of = |entry: &str| device.backend().kernel_resources(module, entry);
    if let Some(told) = of(launch.entry()).unwrap() {
        assert!((1..=255).contains(&told.registers), "{told:?}");
        let unknown = of("no_such_kernel_l1");
        assert!(
            matches!(unknown, Err(DeviceError::LayoutMismatch { .. })),
            "{unknown:?}"
        );
    }
}

#[test]
fn grids_beyond_one_dimension_are_folded() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    // Drivers on CPUs, which are the ones with few workgroups along x, allow 65535.
    for blocks in [65_535, 65_536, 65_537, 200_003] {
        let out = zeros(&device, blocks as usize * 4);
        kernels.selftest_index(shape(blocks, 4), &out).unwrap();
        let wrong = (1..)
            .zip(out.to_vec().unwrap())
            .find(|(i, found)| i != found);
        assert_eq!(wrong, None, "{blocks} blocks");
        // Blocks that only fill the last row do nothing: an error would be counted.
        let launch = kernels.selftest_reports_launch(shape(blocks, 4), 1, 0);
        let reports = device.run_all(&[launch]).unwrap();
        assert_eq!(reports[0].words[0], blocks * 4);
    }
}

#[test]
fn impossible_shapes_are_refused_and_nothing_runs() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let info = device.info().clone();
    let out = zeros(&device, 64);
    for (config, word) in [
        (shape(0, 64), "0 blocks"),
        (shape(1, 0), "0 lanes"),
        (shape(1, info.max_block_dim + 1), "the device allows"),
        (shape(u32::MAX, 1), "the device allows"),
        (shape(info.max_grid_dim, 64), "2^32"),
    ] {
        let good = kernels.selftest_index_launch(shape(1, 64), &out);
        let bad = kernels.selftest_index_launch(config, &out);
        let message = refusal(device.run_all(&[good, bad]));
        assert!(message.contains(word), "{message}");
    }
    assert_eq!(out.to_vec().unwrap(), [0; 64]);
}

#[test]
fn every_block_size_works() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let most = device.info().max_block_dim;
    for lanes in [1, 2, 3, 31, 32, 33, 64, 100, 128, most] {
        let lanes = lanes.min(most);
        let out = zeros(&device, 3 * lanes as usize);
        kernels.selftest_index(shape(3, lanes), &out).unwrap();
        assert!(
            (1..)
                .zip(out.to_vec().unwrap())
                .all(|(i, found)| i == found),
            "{lanes}"
        );
    }
}

#[test]
fn lanes_that_fail_are_counted_and_the_first_is_named() {
    let Some((_, kernels)) = setting() else {
        return;
    };
    // One lane in all, so that it is the first.
    let error = kernels
        .selftest_reports(shape(4, 64), 1000, 150)
        .unwrap_err();
    let DeviceError::Kernel(failure) = error else {
        panic!("{error}");
    };
    assert_eq!((failure.lanes, failure.by_cause), (1, [1, 0, 0]));
    assert_eq!((failure.block, failure.lane), (2, 22));
    assert!(failure.kernel.starts_with("selftest_reports"));
}

#[test]
fn reports_belong_to_their_launches() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let failing = |divisor| kernels.selftest_reports_launch(shape(2, 60), divisor, 0);
    let reports = device
        .run_all(&[failing(2), failing(1000), failing(3), failing(5)])
        .unwrap();
    let lanes: Vec<u32> = reports.iter().map(|report| report.words[0]).collect();
    assert_eq!(lanes, [60, 1, 40, 24]);
}

#[test]
fn empty_slices_are_bound_and_have_no_elements() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let none = DeviceVec::<u32>::new(&device).unwrap();
    kernels.selftest_index(shape(2, 64), &none).unwrap();
    // Nothing is written through the empty one into what stands for it.
    let letters = zeros(&device, 64);
    kernels
        .selftest_messages(shape(1, 64), &letters, &letters, &none)
        .unwrap();
    assert_eq!(letters.to_vec().unwrap(), [0; 64]);
}

#[test]
fn slices_inside_a_buffer_are_bound_where_they_begin() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let whole = zeros(&device, 256);
    let (buffer, _, _) = whole.into_raw_parts();
    // What every Vulkan device can bind at.
    // SAFETY: nobody else has this memory.
    let part = unsafe { DeviceVec::<u32>::from_raw_parts(buffer.clone(), 256, 64) }.unwrap();
    kernels.selftest_index(shape(1, 128), &part).unwrap();
    // SAFETY: nobody else has this memory.
    let whole = unsafe { DeviceVec::<u32>::from_raw_parts(buffer, 0, 256) }.unwrap();
    let found = whole.to_vec().unwrap();
    let want = |i: u32| if (64..128).contains(&i) { i - 63 } else { 0 };
    assert!(
        (0..).zip(&found).all(|(i, found)| *found == want(i)),
        "{found:?}"
    );
}

#[test]
fn arguments_that_cannot_be_bound_are_refused() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let out = zeros(&device, 64);
    let like = kernels.selftest_index_launch(shape(1, 64), &out);
    let slice = |device: &Device, offset, len| {
        let mut arg = zeros(device, 64).arg_mut();
        if let Arg::Slice(slice) = &mut arg {
            (slice.offset, slice.len) = (offset, len);
        }
        arg
    };
    let run = |args| refusal(device.run_all(&[with_args(&kernels, &like, args)]));
    let beyond = run(vec![slice(&device, 0, 65)]);
    assert!(beyond.contains("260 bytes at 0 reaches beyond"), "{beyond}");
    let crooked = run(vec![slice(&device, 2, 1)]);
    assert!(crooked.contains("multiples of"), "{crooked}");
    let three = kernels.selftest_messages_launch(shape(1, 64), &out, &out, &out);
    let few = with_args(&kernels, &three, vec![slice(&device, 0, 64)]);
    let few = refusal(device.run_all(&[few]));
    // Three, and its report where another kernel of the module uses one at the same binding: they share the variable.
    assert!(few.contains("buffers, the launch brings 2 with"), "{few}");
    let long = run(vec![Arg::Words(vec![0; 32])]);
    assert!(long.contains("words"), "{long}");
    let Some(other) = common::device() else {
        return;
    };
    let foreign = device.run_all(&[with_args(&kernels, &like, vec![slice(&other, 0, 64)])]);
    assert!(
        matches!(foreign, Err(DeviceError::OtherDevice { .. })),
        "{foreign:?}"
    );
}
