//! Vulkan: the devices that the loader finds, GPUs before CPUs.

use super::{Driver, FoundDevice};
use warpheap_rt::api::host::{Device, DeviceError};
use warpheap_vulkan::{DeviceChoice, VulkanConfig};

pub(super) const DRIVER: Driver = Driver {
    check,
    enumerate,
    open,
    variable: Some("WARPHEAP_VULKAN_DEVICE"),
};

fn check() -> Result<(), DeviceError> {
    VulkanConfig::from_env()?;
    Ok(())
}

fn enumerate() -> Result<Vec<FoundDevice>, DeviceError> {
    let mut found = warpheap_vulkan::enumerate()?;
    found.sort_by_key(|device| (device.kind, device.index));
    let found = found.into_iter();
    Ok(found
        .map(|device| FoundDevice {
            index: device.index,
            name: device.name,
            driver: device.driver,
            kind: format!(
                "{}, Vulkan {}.{}",
                device.kind, device.version.0, device.version.1
            ),
            warp_width: (device.warp_width != 0).then_some(device.warp_width),
            memory_bytes: device.memory_bytes,
            problem: device.problem,
            remark: device.remark,
            rank: device.kind as u32,
        })
        .collect())
}

fn open(index: usize) -> Result<Device, DeviceError> {
    // What was chosen here wins over what the environment says of the device alone.
    let config = VulkanConfig {
        device: Some(DeviceChoice::Index(index)),
        ..VulkanConfig::from_env()?
    };
    warpheap_vulkan::open_unchecked(&config)
}
