//! What the tests of the backend share: the device, and the kernels of the self-test.
#![allow(dead_code, reason = "every test crate uses its own part of this")]

use std::sync::OnceLock;
use warpheap_api::host::{Device, DeviceError};
use warpheap_vulkan::{VulkanConfig, open_unchecked};

/// The device of this process; `None`, said loudly, if there is none and none is required.
pub fn device() -> Option<Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    DEVICE.get_or_init(|| unless_absent(open())).clone()
}

/// Another device of its own.
pub fn fresh_device() -> Option<Device> {
    unless_absent(open())
}

/// The settings of the environment.
pub fn config() -> VulkanConfig {
    VulkanConfig::from_env().expect("the variables make sense")
}

fn open() -> Result<Device, DeviceError> {
    open_unchecked(&config())
}

/// What was opened; `None`, said loudly, if there is nothing to open and nothing is required.
pub fn unless_absent<T>(opened: Result<T, DeviceError>) -> Option<T> {
    match opened {
        Ok(it) => Some(it),
        Err(error) if std::env::var("WARPHEAP_REQUIRE_VULKAN").as_deref() == Ok("1") => {
            panic!("WARPHEAP_REQUIRE_VULKAN=1: {error}")
        }
        Err(error @ DeviceError::NoDevice { .. }) => {
            eprintln!("SKIPPED, tests of Vulkan did NOT run: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
