//! The device of a job: opening it, and what reports say of it.

use crate::text::{seconds, time};
use serde::Serialize;
use std::time::Duration;
use warpheap::{Device, DeviceError};

/// Opens the device that a job is timed on.
///
/// # Errors
/// As [`Device::open_named`].
pub fn open(backend: Option<&str>, device: Option<&str>) -> Result<Device, DeviceError> {
    let device = Device::open_named(backend, device)?;
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

impl DeviceReport {
    /// The lines that a report for people begins with.
    pub fn text(&self) -> String {
        let mut text = format!(
            "device    {}: {} ({}), warps of {}\n",
            self.backend, self.name, self.driver, self.warp_width
        );
        if !self.load.is_zero() {
            let loaded = time(self.load);
            text +=
                &format!("kernels   loaded in {loaded}, which times on the device have none of\n");
        }
        text
    }
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

#[cfg(test)]
pub mod tests {
    use super::DeviceReport;
    use std::time::Duration;

    /// The device of reports in tests.
    pub fn device() -> DeviceReport {
        DeviceReport {
            backend: "host".into(),
            name: "emulator".into(),
            driver: "1".into(),
            warp_width: 32,
            load: Duration::ZERO,
        }
    }

    #[test]
    fn a_report_begins_with_the_device() {
        let mut device = device();
        let line = "device    host: emulator (1), warps of 32\n";
        assert_eq!(device.text(), line);
        device.load = Duration::from_millis(1500);
        let loaded = "kernels   loaded in 1.50 s, which times on the device have none of\n";
        assert_eq!(device.text(), format!("{line}{loaded}"));
    }
}
