//! Copies from one device to another, beside streams of both.

use crate::common::{args, prepare, running};
use crate::work::*;
use warpheap_api::host::{Device, DeviceVec};

#[test]
fn a_copy_between_devices_waits_for_streams_of_both() {
    let (one, other) = (running(4), running(4));
    let (left, right) = (one.stream().unwrap(), other.stream().unwrap());
    let (here, mut there) = (zeroed(&one, 1), zeroed(&other, 1));
    let slow = |device: &Device, vec: &DeviceVec<u32>| {
        prepare(device, "slow", slow, (1, 1), args([vec.arg_mut()]))
    };
    let step = |device: &Device, vec: &DeviceVec<u32>| {
        prepare(device, "step", step, (1, 1), args([vec.arg_mut()]))
    };
    // The source is ready late, and what the target gets meanwhile is written over.
    slow(&one, &here).on(&left).unwrap();
    step(&one, &here).on(&left).unwrap();
    there.copy_from_vec(&here).unwrap();
    assert_eq!(there.to_vec().unwrap(), [71]);
    slow(&other, &there).on(&right).unwrap();
    there.copy_from_vec(&here).unwrap();
    step(&other, &there).on(&right).unwrap();
    step(&one, &here).on(&left).unwrap();
    right.wait().unwrap();
    left.wait().unwrap();
    assert_eq!(there.to_vec().unwrap(), [711]);
    assert_eq!(here.to_vec().unwrap(), [711]);
}
