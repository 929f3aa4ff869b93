//! The self-test on a real device.

mod common;

#[test]
fn a_working_device_passes() {
    let Some(device) = common::device() else {
        return;
    };
    warpheap_kernels::selftest::check(&device).unwrap();
}
