//! Buffers that grow at their address, on a GPU.

mod common;

use common::{IMAGE, check_that_it_works, launch};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use warpheap_api::host::{BufferId, Device, DeviceError, DeviceVec, IntoArg};
use warpheap_cuda::CudaConfig;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The device, for one test at a time: they look at how much memory is free.
fn open() -> Option<(MutexGuard<'static, ()>, Device)> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((alone, common::open(&CudaConfig::default())?))
}

/// A buffer of a device's backend, given back at the end.
struct Buffer<'a>(&'a Device, BufferId);

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.0.backend().dealloc(self.1);
    }
}

impl<'a> Buffer<'a> {
    fn reserve(device: &'a Device, bytes: u64, most: u64) -> Self {
        Buffer(device, device.backend().reserve(bytes, most).unwrap())
    }

    fn resize(&self, bytes: u64) -> Result<Duration, DeviceError> {
        let start = Instant::now();
        self.0.backend().resize(self.1, bytes)?;
        Ok(start.elapsed())
    }

    /// Sets the words between two bytes to a number.
    fn fill(&self, from: u64, to: u64, value: u32) -> Result<(), DeviceError> {
        let words = (to - from) / 4;
        self.0.backend().fill(self.1, from, words, value)
    }

    /// The word at a byte.
    fn word(&self, at: u64) -> u32 {
        let mut bytes = [0; 4];
        self.0.backend().read(self.1, at, &mut bytes).unwrap();
        u32::from_ne_bytes(bytes)
    }

    /// Free bytes of the device, as the error of a request that it cannot serve says.
    fn free(&self) -> u64 {
        let all = self.0.info().memory_bytes;
        let _most = self.0.alloc(all / 4 * 3);
        match self.0.alloc(all / 4 * 3) {
            Err(DeviceError::OutOfMemory { why, .. }) => {
                let number = why.split(' ').next().unwrap();
                number.parse().unwrap()
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn contents_stay_where_they_are_while_a_buffer_grows_and_shrinks() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let buffer = Buffer::reserve(&device, 3 * MIB, GIB);
    buffer.fill(0, 3 * MIB, 1).unwrap();
    let mut before = 3 * MIB;
    for (step, bytes) in [4 * MIB, 40 * MIB + 4, 500 * MIB].into_iter().enumerate() {
        buffer.resize(bytes).unwrap();
        buffer.fill(before, bytes, step as u32 + 2).unwrap();
        before = bytes;
    }
    let seen = |at| (buffer.word(at), buffer.word(at - 4));
    assert_eq!(seen(3 * MIB), (2, 1));
    assert_eq!(seen(4 * MIB), (3, 2));
    assert_eq!(seen(40 * MIB + 4), (4, 3));
    assert_eq!((buffer.word(0), buffer.word(500 * MIB - 4)), (1, 4));
    let full = buffer.free();
    buffer.resize(5 * MIB).unwrap();
    assert!(buffer.free() > full + 400 * MIB, "memory went back");
    assert_eq!((buffer.word(0), seen(4 * MIB)), (1, (3, 2)));
    buffer.resize(100 * MIB).unwrap();
    buffer.fill(5 * MIB, 100 * MIB, 9).unwrap();
    assert_eq!(
        (buffer.word(5 * MIB - 4), buffer.word(100 * MIB - 4)),
        (3, 9)
    );
    let less = buffer.free();
    drop(buffer);
    let other = Buffer::reserve(&device, 4, 4);
    assert!(other.free() > less + 90 * MIB, "all memory went back");
    check_that_it_works(&device);
}

#[test]
fn what_is_not_there_is_refused_and_nothing_changes() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let all = device.info().memory_bytes;
    // More addresses than memory.
    let buffer = Buffer::reserve(&device, MIB, 2 * all);
    buffer.fill(0, MIB, 7).unwrap();
    assert!(buffer.fill(0, MIB + 4, 8).is_err());
    match buffer.resize(4 * all) {
        Err(DeviceError::CannotResize { why, .. }) => assert!(why.contains("reserved"), "{why}"),
        other => panic!("{other:?}"),
    }
    match buffer.resize(all / 64 * 65) {
        Err(DeviceError::OutOfMemory { why, .. }) => assert!(why.contains("are free"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!((buffer.word(0), buffer.word(MIB - 4)), (7, 7));
    buffer.resize(10 * MIB).unwrap();
    buffer.fill(MIB, 10 * MIB, 8).unwrap();
    assert_eq!((buffer.word(MIB - 4), buffer.word(MIB)), (7, 8));
    let plain = device.alloc(64).unwrap();
    let refused = device.backend().resize(plain.id(), 128);
    assert!(matches!(refused, Err(DeviceError::CannotResize { .. })));
    check_that_it_works(&device);
}

#[test]
fn other_work_goes_on_while_a_buffer_grows() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = device.load(&IMAGE).unwrap();
    let stream = device.stream().unwrap();
    let buffer = Buffer::reserve(&device, MIB, 8 * GIB);
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let sleep = launch(&module, "sleep_l1", 1, 1, vec![200u32.into_arg()]);
    sleep.on(&stream).unwrap();
    let one = launch(&module, "increment_l1", 1, 1, vec![count.arg()]);
    one.on(&stream).unwrap();
    let took = buffer.resize(GIB).unwrap();
    println!("a step beside a kernel of 200 ms: {took:?}");
    // Shrinking waits for it.
    buffer.resize(MIB).unwrap();
    assert!(stream.is_idle().unwrap());
    stream.wait().unwrap();
    assert_eq!(count.to_vec().unwrap(), [1]);
}

/// Prints what steps take; `--nocapture` shows it. Contents are checked at both ends of each step.
#[test]
fn steps_from_one_gib_to_32() {
    let Some((_alone, device)) = open() else {
        return;
    };
    if device.info().memory_bytes < 40 * GIB {
        println!("SKIPPED: the GPU has less than 40 GiB");
        return;
    }
    let buffer = Buffer::reserve(&device, GIB, 32 * GIB);
    buffer.fill(0, GIB, 1).unwrap();
    for power in 1..=5u32 {
        let (before, bytes) = (GIB << (power - 1), GIB << power);
        let took = buffer.resize(bytes).unwrap();
        println!("{} to {} GiB: {took:?}", before / GIB, bytes / GIB);
        buffer.fill(before, bytes, power + 1).unwrap();
    }
    for power in 1..=5u32 {
        let at = GIB << (power - 1);
        assert_eq!((buffer.word(at - 4), buffer.word(at)), (power, power + 1));
    }
    let start = Instant::now();
    buffer.resize(GIB).unwrap();
    println!("32 back to 1 GiB: {:?}", start.elapsed());
    assert_eq!((buffer.word(0), buffer.word(GIB - 4)), (1, 1));
}
