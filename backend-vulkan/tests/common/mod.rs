//! What the tests of the backend share: the device, and the kernels of the self-test.
#![allow(dead_code, reason = "every test crate uses its own part of this")]

use warpheap_api::host::{Device, DeviceError};
use warpheap_vulkan::{VulkanConfig, open_unchecked};

/// A device of the test's own; `None`, said loudly, if there is none and none is required. Not one for
/// the whole process: it would never be dropped, and devices have to end well too.
pub fn device() -> Option<Device> {
    unless_absent(open_unchecked(&config()))
}

/// The settings of the environment.
pub fn config() -> VulkanConfig {
    VulkanConfig::from_env().expect("the variables make sense")
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
