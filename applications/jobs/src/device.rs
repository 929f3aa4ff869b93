//! The device of a job: opening it, and what reports say of it.

use crate::seconds::seconds;
use serde::Serialize;
use std::time::Duration;
use warpheap::{Device, DeviceError};
use warpheap_dist::World;

/// Opens the device that a job is timed on.
///
/// # Errors
/// As [`Device::open_named`].
pub fn open(backend: Option<&str>, device: Option<&str>) -> Result<Device, DeviceError> {
    let device = Device::open_named(backend, device)?;
    device.keep_pace(true);
    Ok(device)
}

/// As [`open`], the device of this rank.
///
/// # Errors
/// As [`World::open_device`].
pub fn open_in(
    world: &World,
    backend: Option<&str>,
    device: Option<&str>,
) -> Result<Device, DeviceError> {
    let device = world.open_device(backend, device)?;
    device.keep_pace(true);
    Ok(device)
}

/// The device of a report.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// `host`, `cuda` or `vulkan`.
    pub backend: String,
    /// Name of the device.
    pub name: String,
    /// Driver and version.
    pub driver: String,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Seconds that its kernels took to load.
    #[serde(rename = "load_s", serialize_with = "seconds")]
    pub load: Duration,
}

impl From<&Device> for DeviceReport {
    /// The device as it is once everything has run: kernels load when they are needed.
    fn from(device: &Device) -> Self {
        let info = device.info();
        DeviceReport {
            backend: info.backend.name().to_owned(),
            name: info.name.clone(),
            driver: info.driver.clone(),
            warp_width: info.warp_width,
            load: device.load_time(),
        }
    }
}
