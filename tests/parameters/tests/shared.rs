//! Words that the lanes of a block share.

use std::panic::{AssertUnwindSafe, catch_unwind};
use warpheap_api::host::{DeviceError, DeviceVec, LaunchConfig};
use warpheap_container_tests::Site;
use warpheap_parameter_kernels::shared::{BINS, COUNTS};
use warpheap_parameter_kernels::{Kernels, load};

fn kernels(site: &Site) -> Kernels {
    load(&site.device).expect("the kernels load")
}

fn config(grid_dim: u32, block_dim: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim,
        block_dim,
    }
}

fn numbers(count: u32) -> Vec<u32> {
    (0..count)
        .map(|i| i.wrapping_mul(0x9e37_79b9) >> 12)
        .collect()
}

/// Sums of blocks of many shapes, each of which has words of its own.
fn sums(site: &Site) {
    let kernels = kernels(site);
    for (blocks, lanes) in [(1, 1), (3, 5), (9, 64), (2, 100), (6, 256)] {
        let all = blocks * lanes;
        let values = numbers(all - 1);
        let given = DeviceVec::from_slice(&site.device, &values).unwrap();
        let mut out = DeviceVec::zeroed(&site.device, all as usize).unwrap();
        let launch = kernels.block_sums(config(blocks, lanes), &given, &mut out);
        launch.expect("summed");
        let sums = values
            .chunks(lanes as usize)
            .map(|block| block.iter().sum());
        let sums: Vec<u32> = sums.collect();
        let out = out.to_vec().unwrap();
        for (i, found) in out.into_iter().enumerate() {
            let expected = sums.get(i / lanes as usize).copied().unwrap_or(0);
            assert_eq!(found, expected, "lane {i} of {blocks} blocks of {lanes}");
        }
    }
}

/// Words that lanes change atomically, in two arrays of one kernel.
fn counts(site: &Site) {
    let kernels = kernels(site);
    let (blocks, lanes) = (7, 96);
    let values = numbers(blocks * lanes);
    let given = DeviceVec::from_slice(&site.device, &values).unwrap();
    let out = DeviceVec::<u32>::zeroed(&site.device, (blocks * COUNTS) as usize).unwrap();
    let launch = kernels.block_counts(config(blocks, lanes), &given, &out);
    launch.expect("counted");
    let out = out.to_vec().unwrap();
    let found = out.chunks(COUNTS as usize);
    for (found, block) in found.zip(values.chunks(lanes as usize)) {
        let mut expected = vec![0; BINS];
        for value in block {
            expected[*value as usize % BINS] += 1;
        }
        expected.push(*block.iter().min().unwrap());
        expected.push(*block.iter().max().unwrap());
        expected.push(block.iter().fold(0, |all, value| all | value));
        expected.push(1);
        assert_eq!(found, expected);
    }
}

/// As much as CUDA has, or a device that has less says so before it runs anything.
fn much(site: &Site) {
    let (blocks, lanes) = (5, 60);
    let mut out = DeviceVec::filled(&site.device, 300, u32::MAX).unwrap();
    let launch = kernels(site).share_much(config(blocks, lanes), &mut out);
    match launch {
        Ok(_) => {
            let next = |i| i / lanes * lanes + (i + 1) % lanes;
            let expected: Vec<u32> = (0..blocks * lanes).map(next).collect();
            assert_eq!(out.to_vec().unwrap(), expected);
        }
        Err(error @ DeviceError::BadLaunch { .. }) => {
            let text = error.to_string();
            let bytes = "the lanes of a block share 48000 bytes, the device (";
            assert!(text.contains(bytes), "{text}");
            assert_eq!(out.to_vec().unwrap(), [u32::MAX; 300]);
            // On a stream too.
            let stream = site.device.stream().unwrap();
            let queued = kernels(site)
                .share_much_launch(config(blocks, lanes), &mut out)
                .on(&stream);
            assert!(matches!(queued, Err(DeviceError::BadLaunch { .. })));
        }
        Err(error) => panic!("{error}"),
    }
}

fn all(site: &Site) {
    sums(site);
    counts(site);
    much(site);
}

#[test]
fn host() {
    for width in [1, 4, 8, 32, 64] {
        all(&Site::host(width));
    }
}

#[test]
fn explored() {
    for width in [1, 4, 32] {
        for seed in warpheap_container_tests::seeds(2) {
            let site = Site::explored(width, seed);
            sums(&site);
            counts(&site);
        }
    }
}

/// A word beyond the last is a mistake as with slices.
#[test]
fn beyond_the_last_word() {
    let site = Site::host(4);
    let mut out = DeviceVec::zeroed(&site.device, 1).unwrap();
    let kernels = kernels(&site);
    let mut run = |at| {
        let launch = || kernels.share_beyond(config(1, 1), at, &mut out);
        let ended = catch_unwind(AssertUnwindSafe(launch));
        matches!(ended, Ok(Ok(_)))
    };
    assert!(run(3));
    assert!(!run(4));
}

warpheap_container_tests::on_gpus!(all);
