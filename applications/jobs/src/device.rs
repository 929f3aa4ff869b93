//! The device of a job: opening it, and what reports say of it.

use crate::seconds::seconds;
use serde::Serialize;
use std::time::Duration;
use warpheap::api::LAYOUT_VERSION;
use warpheap::{Device, DeviceError, LaunchConfig};
use warpheap_applications::Kernels;
use warpheap_dist::World;

/// The name that means all devices instead of one.
const ALL: &str = "all";

/// Loads kernels that are of no allocator, so that no launch has to while others wait or something is timed.
///
/// # Errors
/// As [`Module::load_kernel`](warpheap::Module::load_kernel).
pub fn load(kernels: &Kernels, names: &[&str]) -> Result<(), DeviceError> {
    let module = kernels.module("");
    let lanes = LaunchConfig::for_num_elems(1).block_dim;
    let mut entries = names.iter().map(|name| format!("{name}_l{LAYOUT_VERSION}"));
    entries.try_for_each(|entry| module.load_kernel(&entry, lanes))
}

/// Whether a user means all devices.
fn is_all(device: Option<&str>) -> bool {
    device.is_some_and(|device| device.trim().eq_ignore_ascii_case(ALL))
}

/// Opens the devices that a job is timed on which several can share: that which `device` names, or all that can be used if it is
/// `all`.
///
/// # Errors
/// As [`Device::open_named`] and [`Device::all_named`].
pub fn open_some(backend: Option<&str>, device: Option<&str>) -> Result<Vec<Device>, DeviceError> {
    if !is_all(device) {
        return Ok(vec![open(backend, device)?]);
    }
    let devices = Device::all_named(backend)?;
    devices.iter().for_each(|device| device.keep_pace(true));
    Ok(devices)
}

/// Opens the device that a job is timed on.
///
/// # Errors
/// As [`Device::open_named`]; [`DeviceError::BadConfig`] for `all`.
pub fn open(backend: Option<&str>, device: Option<&str>) -> Result<Device, DeviceError> {
    one(device)?;
    let device = Device::open_named(backend, device)?;
    device.keep_pace(true);
    Ok(device)
}

/// Refuses the name that means all devices.
fn one(device: Option<&str>) -> Result<(), DeviceError> {
    match is_all(device) {
        false => Ok(()),
        true => Err(DeviceError::BadConfig {
            setting: "--device".into(),
            value: ALL.into(),
            allowed: "one device, by its number or a part of its name; only `warpheap kmer` and `warpheap join` work on all at once, as one process"
                .into(),
        }),
    }
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
    one(device)?;
    let device = world.open_device(backend, device)?;
    device.keep_pace(true);
    Ok(device)
}

/// What is said of one of several devices in front of what it did wrong; `at` is its place among them.
pub(crate) fn label(device: &Device, at: usize) -> String {
    // As `warpheap doctor` counts: some may be left out.
    let number = device.number().unwrap_or(at);
    format!("device {number} ({}): ", device.info().name)
}

/// The device of a report.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// `host`, `cuda` or `vulkan`.
    pub backend: String,
    /// Name of the device.
    pub name: String,
    /// Its number in `warpheap doctor`, if it was opened by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
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
            number: device.number(),
            driver: info.driver.clone(),
            warp_width: info.warp_width,
            load: device.load_time(),
        }
    }
}
