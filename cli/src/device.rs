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
    let lines =
        devices.map(|(at, device)| named(&format!("device {}", number(at, device)), device));
    lines.collect()
}

/// The number of one of several devices: that of `warpheap doctor`, which may have some that the job does not, or else its place.
pub fn number(at: usize, device: &DeviceReport) -> usize {
    device.number.unwrap_or(at)
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
    use super::{lines, numbered};
    use std::time::Duration;
    use warpheap_jobs::device::DeviceReport;

    /// The device of reports in tests.
    pub fn device() -> DeviceReport {
        DeviceReport {
            backend: "host".into(),
            name: "emulator".into(),
            number: None,
            driver: "1".into(),
            warp_width: 32,
            load: Duration::ZERO,
        }
    }

    #[test]
    fn devices_of_one_name_have_the_numbers_of_the_doctor() {
        let of = |number| DeviceReport { number, ..device() };
        let text = numbered(&[of(Some(1)), of(Some(3))]);
        let line = |number| format!("device {number}  host: emulator (1), warps of 32\n");
        assert_eq!(text, line(1) + &line(3));
        assert_eq!(numbered(&[of(None), of(None)]), line(0) + &line(1));
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
