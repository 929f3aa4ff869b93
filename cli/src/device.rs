//! What a report for people says of its device.

use crate::text::time;
use warpheap_jobs::device::DeviceReport;

/// The lines that a report for people begins with.
pub fn lines(device: &DeviceReport) -> String {
    named("device", device)
}

/// The same for several devices, with their numbers.
pub fn numbered(devices: &[DeviceReport]) -> String {
    let devices = devices.iter().enumerate();
    let lines = devices.map(|(number, device)| named(&format!("device {number}"), device));
    lines.collect()
}

fn named(name: &str, device: &DeviceReport) -> String {
    let mut text = format!(
        "{name:<10}{}: {} ({}), warps of {}\n",
        device.backend, device.name, device.driver, device.warp_width
    );
    if !device.load.is_zero() {
        let loaded = time(device.load);
        text += &format!("kernels   loaded in {loaded}, which times on the device have none of\n");
    }
    text
}

#[cfg(test)]
pub mod tests {
    use super::lines;
    use std::time::Duration;
    use warpheap_jobs::device::DeviceReport;

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
        assert_eq!(lines(&device), line);
        device.load = Duration::from_millis(1500);
        let loaded = "kernels   loaded in 1.50 s, which times on the device have none of\n";
        assert_eq!(lines(&device), format!("{line}{loaded}"));
    }
}
