//! A device that does not answer in time: lost for good, and nothing waits for it.

mod common;

use std::time::{Duration, Instant};
use warpheap_api::host::DeviceError;
use warpheap_vulkan::{VulkanConfig, open_unchecked};

#[test]
fn a_device_that_takes_too_long_is_lost_and_a_new_one_works() {
    let hasty = VulkanConfig {
        timeout: Duration::from_nanos(1),
        ..common::config()
    };
    let Some(device) = common::unless_absent(open_unchecked(&hasty)) else {
        return;
    };
    let bytes = device.info().max_buffer_bytes.min(128 << 20);
    let buffer = device.alloc(bytes).unwrap();
    // SAFETY: nobody else has this memory.
    let lost = unsafe { buffer.fill(0, bytes / 4, 1) }.unwrap_err();
    assert!(matches!(lost, DeviceError::Lost { .. }), "{lost}");
    assert!(lost.to_string().contains("WARPHEAP_TIMEOUT_S"), "{lost}");
    // From now on every call says so, at once.
    let start = Instant::now();
    for error in [
        // SAFETY: nobody else has this memory.
        unsafe { buffer.write(0, &[0; 4]) }.unwrap_err(),
        device.alloc(64).unwrap_err(),
        warpheap_kernels::load(&device).unwrap_err(),
        device.run_all(&[]).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), lost.to_string());
    }
    // The device may be at work on the buffer: neither this nor the end of the device waits.
    drop(buffer);
    drop(device);
    assert!(start.elapsed() < Duration::from_secs(5));

    let Some(fresh) = common::device() else {
        return;
    };
    // SAFETY: nobody else has this memory.
    unsafe { fresh.alloc(64).unwrap().write(0, &[1; 4]) }.unwrap();
}
