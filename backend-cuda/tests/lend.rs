//! Memory that another library works on, here the driver itself, on a GPU.

mod common;

use common::{check_that_it_works, open_impatient, sleep};
use std::ffi::c_void;
use warpheap_api::host::{DeviceError, DeviceVec, Lent};
use warpheap_cuda::CudaConfig;

/// The driver's `cuMemsetD32Async`.
type Set = unsafe extern "C" fn(u64, u32, usize, *mut c_void) -> i32;

/// Queues with another library's call that all words of the first piece get a value.
fn set(lent: Lent<'_>, words: usize, value: u32) {
    // SAFETY: the driver has no initialisers that ask for something.
    let driver = unsafe { libloading::Library::new("libcuda.so.1") }.expect("a driver");
    // SAFETY: its type; the memory is lent, and this stream as well.
    let answer = unsafe {
        let set = driver.get::<Set>(b"cuMemsetD32Async\0").expect("it is old");
        set(lent.addresses[0], value, words, lent.stream)
    };
    assert_eq!(answer, 0, "the context is current, and the stream of it");
}

#[test]
fn another_library_changes_what_it_is_lent() {
    let Some(device) = common::open(&CudaConfig::default()) else {
        return;
    };
    let numbers = DeviceVec::from_slice(&device, &[1u32; 1000]).unwrap();
    let other = DeviceVec::from_slice(&device, &[2u32; 1000]).unwrap();
    for value in [7, 8, 9] {
        let mut calls = 0;
        let args = [numbers.arg_mut(), other.arg()];
        // SAFETY: all words of the first vector change, and nothing else.
        let lent = unsafe {
            device.lend(&args, |lent| {
                assert_eq!(lent.addresses.len(), 2);
                set(lent, 1000, value);
                calls += 1;
            })
        };
        assert!(lent.unwrap());
        assert_eq!(calls, 1);
        assert_eq!(numbers.to_vec().unwrap(), [value; 1000]);
        assert_eq!(other.to_vec().unwrap(), [2; 1000]);
    }
    // SAFETY: nothing is queued.
    let twice = unsafe { device.lend(&[numbers.arg_mut(), numbers.arg()], |_| ()) };
    assert!(matches!(twice, Err(DeviceError::BadLaunch { .. })));
    check_that_it_works(&device);
}

#[test]
fn work_of_streams_with_the_memory_comes_first() {
    let Some((device, module)) = open_impatient() else {
        return;
    };
    let stream = device.stream().unwrap();
    let numbers = DeviceVec::from_slice(&device, &[1u32; 64]).unwrap();
    stream.launch(sleep(&module, 50)).unwrap();
    let before = stream.read(&numbers).unwrap();
    // SAFETY: the words of the vector change.
    let lent = unsafe { device.lend(&[numbers.arg_mut()], |lent| set(lent, 64, 5)) };
    assert!(lent.unwrap());
    assert_eq!(before.wait().unwrap(), [1; 64]);
    assert_eq!(numbers.to_vec().unwrap(), [5; 64]);
}
