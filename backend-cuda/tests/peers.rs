//! Two devices in one process: two GPUs, and one that was opened twice. What needs two is skipped with fewer.

mod common;

use common::{check_that_it_works, kernels, launch, sleep};
use std::time::Instant;
use warpheap_api::host::{Arg, Device, DeviceError, DeviceVec, Module};
use warpheap_cuda::CudaConfig;

/// The GPU of that number.
fn gpu(index: usize) -> Option<Device> {
    common::open(&CudaConfig {
        device: index,
        ..CudaConfig::default()
    })
}

/// The first two GPUs, both of which work.
fn two_gpus() -> Option<[Device; 2]> {
    let count = warpheap_cuda::enumerate().map_or(0, |found| found.len());
    if count < 2 {
        eprintln!("SKIPPED, nothing was tested on two GPUs: there are {count}");
        return None;
    }
    let both = [gpu(0)?, gpu(1)?];
    both.iter().for_each(check_that_it_works);
    Some(both)
}

/// One GPU as two devices.
fn twice() -> Option<[Device; 2]> {
    let both = [gpu(0)?, gpu(0)?];
    both.iter().for_each(check_that_it_works);
    Some(both)
}

/// Different words for each `salt`.
fn words(len: u32, salt: u32) -> Vec<u32> {
    (0..len)
        .map(|i| i.wrapping_mul(0x9e37_79b9) ^ salt)
        .collect()
}

fn copies([one, other]: &[Device; 2]) {
    // More than is copied at once, twice, and a rest.
    for len in [1, 1000, (48 << 20) + 3] {
        let data = words(len, 7);
        let here = DeviceVec::from_slice(one, &data).unwrap();
        let mut there = DeviceVec::<u32>::zeroed(other, data.len()).unwrap();
        there.copy_from_vec(&here).unwrap();
        assert!(there.to_vec().unwrap() == data, "{len} words there");
        let mut back = DeviceVec::<u32>::zeroed(one, data.len()).unwrap();
        back.copy_from_vec(&there).unwrap();
        assert!(back.to_vec().unwrap() == data, "{len} words back");
    }
    // Bytes in the midst of words: those beside them stay.
    let bytes: Vec<u8> = (0..=255).collect();
    let here = DeviceVec::from_slice(one, &bytes).unwrap();
    for (first, range) in [(1, 1..255), (3, 2..255), (0, 5..7)] {
        let mut there = DeviceVec::filled(other, 256, 9u8).unwrap();
        there
            .copy_range_from_vec(first, &here, range.clone())
            .unwrap();
        let mut want = vec![9; 256];
        want[first..first + range.len()].copy_from_slice(&bytes[range]);
        assert_eq!(there.to_vec().unwrap(), want);
    }
}

/// A copy waits for work of streams of either device with what it copies, and later work waits for it.
fn order([one, other]: &[Device; 2]) {
    let (near, far) = (kernels(one), kernels(other));
    let (left, right) = (one.stream().unwrap(), other.stream().unwrap());
    let count = DeviceVec::<u32>::zeroed(one, 1).unwrap();
    let mut copy = DeviceVec::<u32>::zeroed(other, 1).unwrap();
    let up = |module: &Module, vec: &DeviceVec<u32>| {
        launch(module, "increment_l1", 1, 1, vec![vec.arg_mut()])
    };
    for round in 1..=20 {
        left.launch(sleep(&near, 2)).unwrap();
        left.launch(up(&near, &count)).unwrap();
        // What this leaves is written over.
        right.launch(sleep(&far, 3)).unwrap();
        right.launch(up(&far, &copy)).unwrap();
        copy.copy_from_vec(&count).unwrap();
        right.launch(up(&far, &copy)).unwrap();
        let read = right.read(&copy).unwrap();
        assert_eq!(read.wait().unwrap(), [round + 1]);
    }
    assert_eq!(count.to_vec().unwrap(), [20]);
}

/// Copies there and back at once, from and to the same vectors, end.
fn there_and_back([one, other]: &[Device; 2]) {
    let data = words(1, 3);
    let here = DeviceVec::from_slice(one, &data).unwrap();
    let there = DeviceVec::from_slice(other, &data).unwrap();
    let again = |vec: &DeviceVec<u32>| {
        let Arg::Slice(slice) = vec.arg() else {
            unreachable!("a vector is a slice")
        };
        // SAFETY: elements of this type, to which nothing is ever written but the words that they have.
        unsafe { DeviceVec::<u32>::from_raw_parts(slice.buffer, slice.offset, slice.len) }.unwrap()
    };
    std::thread::scope(|scope| {
        for (from, to) in [(&here, &there), (&there, &here)] {
            let mut to = again(to);
            scope.spawn(move || {
                for _ in 0..5000 {
                    to.copy_from_vec(from).unwrap();
                }
            });
        }
    });
    assert!(here.to_vec().unwrap() == data && there.to_vec().unwrap() == data);
}

fn refused([one, other]: &[Device; 2]) {
    let (here, there) = (kernels(one), kernels(other));
    let vec = DeviceVec::<u32>::zeroed(one, 4).unwrap();
    let up = |module: &Module| launch(module, "increment_l1", 1, 1, vec![vec.arg_mut()]);
    let stream = other.stream().unwrap();
    let event = stream.event().unwrap();
    let own = one.stream().unwrap();
    for (what, done) in [
        ("argument 1 of increment_l1", up(&there).run().map(drop)),
        ("kernel increment_l1", other.run_all(&[up(&here)]).map(drop)),
        ("kernel increment_l1", up(&here).on(&stream)),
        ("a vector", stream.read(&vec).map(drop)),
        ("the event", own.wait_for(&event)),
        (
            "the earlier event",
            own.event().unwrap().since(&event).map(drop),
        ),
    ] {
        match done {
            Err(DeviceError::OtherDevice { what: said, .. }) => {
                assert_eq!(&said[..what.len()], what)
            }
            done => panic!("{what}: {done:?}"),
        }
    }
    assert_eq!(vec.to_vec().unwrap(), [0; 4]);
}

#[test]
fn one_gpu_as_two_devices() {
    let Some(devices) = twice() else { return };
    copies(&devices);
    order(&devices);
    there_and_back(&devices);
    refused(&devices);
}

#[test]
fn words_come_from_one_gpu_to_another_as_they_are() {
    let Some(devices) = two_gpus() else { return };
    copies(&devices);
}

#[test]
fn copies_between_gpus_are_ordered_with_the_streams_of_both() {
    let Some(devices) = two_gpus() else { return };
    order(&devices);
    there_and_back(&devices);
}

#[test]
fn what_is_another_gpus_is_refused() {
    let Some(devices) = two_gpus() else { return };
    refused(&devices);
}

#[test]
fn the_driver_copies_unless_memory_is_mapped() {
    const BYTES: u64 = 256 << 20;
    let Some([one, other]) = two_gpus() else {
        return;
    };
    let (here, there) = (one.alloc(BYTES).unwrap(), other.alloc(BYTES).unwrap());
    let (near, far) = (one.backend(), other.backend());
    let copy = |bytes| near.copy_to((here.id(), 0), &**far, (there.id(), 0), bytes);
    assert!(copy(4).unwrap());
    let started = Instant::now();
    assert!(copy(BYTES).unwrap());
    let rate = BYTES as f64 / started.elapsed().as_secs_f64() / 1e9;
    eprintln!("{rate:.1} GB/s from GPU 0 to GPU 1");
    let Ok(mapped) = far.reserve(BYTES, 2 * BYTES) else {
        return;
    };
    assert!(
        !near
            .copy_to((here.id(), 0), &**far, (mapped, 0), BYTES)
            .unwrap()
    );
    assert!(
        !far.copy_to((mapped, 0), &**near, (here.id(), 0), BYTES)
            .unwrap()
    );
    far.dealloc(mapped);
    let out = near.copy_to((here.id(), 4), &**far, (there.id(), 0), BYTES);
    assert!(
        matches!(out, Err(DeviceError::OutOfRange { .. })),
        "{out:?}"
    );
}
