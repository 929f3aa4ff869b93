//! The device of a report.

use serde::Serialize;
use warpheap::DeviceInfo;

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
}

impl DeviceReport {
    /// The line that a report for people begins with.
    pub fn line(&self) -> String {
        format!(
            "device    {}: {} ({}), warps of {}\n",
            self.backend, self.name, self.driver, self.warp_width
        )
    }
}

impl From<&DeviceInfo> for DeviceReport {
    fn from(info: &DeviceInfo) -> Self {
        DeviceReport {
            backend: info.backend.name().to_owned(),
            name: info.name.clone(),
            driver: info.driver.clone(),
            warp_width: info.warp_width,
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::DeviceReport;

    /// The device of reports in tests.
    pub fn device() -> DeviceReport {
        DeviceReport {
            backend: "host".into(),
            name: "emulator".into(),
            driver: "1".into(),
            warp_width: 32,
        }
    }

    #[test]
    fn a_report_begins_with_the_device() {
        let line = device().line();
        assert_eq!(line, "device    host: emulator (1), warps of 32\n");
    }
}
