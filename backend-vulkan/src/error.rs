//! How answers of the driver become errors.

use ash::vk;
use warpheap_api::host::{BackendKind, DeviceError};

/// What to install, for messages about a machine without a usable driver.
pub(crate) const INSTALL: &str = "on Debian: `apt-get install libvulkan1` and the driver of your GPU \
     (NVIDIA's own, or mesa-vulkan-drivers); without a GPU: `apt-get install --no-install-recommends \
     chromium-common` and set VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json";

/// There is nothing to open.
pub(crate) fn no_device(why: impl Into<String>) -> DeviceError {
    DeviceError::NoDevice {
        backend: BackendKind::Vulkan,
        why: why.into(),
    }
}

/// An answer of the driver that a call did not expect.
pub(crate) fn driver_error(device: &str, call: &'static str, result: vk::Result) -> DeviceError {
    match result {
        vk::Result::ERROR_DEVICE_LOST => DeviceError::Lost {
            device: device.to_string(),
            during: call.to_string(),
            what: "the driver gave up on it (VK_ERROR_DEVICE_LOST): a kernel ran too long or \
                   reached outside its buffers, or the GPU was reset"
                .to_string(),
        },
        _ => DeviceError::Driver {
            device: device.to_string(),
            call,
            what: describe(result),
        },
    }
}

/// A result code in words, with its number.
pub(crate) fn describe(result: vk::Result) -> String {
    // `Display` of ash gives a sentence for the codes it knows and a number for others.
    format!("{result} ({result:?})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_device_is_told_apart() {
        let lost = driver_error("gpu", "vkQueueSubmit", vk::Result::ERROR_DEVICE_LOST);
        assert!(matches!(lost, DeviceError::Lost { .. }));
        let other = driver_error("gpu", "vkQueueSubmit", vk::Result::ERROR_TOO_MANY_OBJECTS);
        assert!(matches!(other, DeviceError::Driver { .. }));
        assert!(other.to_string().contains("vkQueueSubmit failed on gpu"));
    }
}
