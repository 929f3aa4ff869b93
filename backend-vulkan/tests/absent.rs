//! A machine without a Vulkan driver. One test, since it changes the environment of its process.

use warpheap_api::host::DeviceError;
use warpheap_vulkan::{VulkanConfig, enumerate, open_unchecked};

#[test]
fn without_a_driver_the_error_says_what_to_install() {
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        // SAFETY: the only test of this process, and nothing else in it reads the environment yet.
        unsafe { std::env::set_var(name, "/nowhere/driver.json") };
    }
    let listed = enumerate().unwrap_err();
    let opened = open_unchecked(&VulkanConfig::default()).unwrap_err();
    for error in [listed, opened] {
        assert!(matches!(error, DeviceError::NoDevice { .. }), "{error}");
        assert!(error.to_string().contains("apt-get install"), "{error}");
    }
}
