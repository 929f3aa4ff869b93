//! The emulator, which is always there: one device, or as many as `WARPHEAP_HOST_DEVICES` says.

use super::{Driver, FoundDevice};
use warpheap_host::HostConfig;
use warpheap_rt::api::host::{Device, DeviceError};

pub(super) const DRIVER: Driver = Driver {
    check,
    enumerate,
    open,
    variable: None,
};

fn check() -> Result<(), DeviceError> {
    HostConfig::from_env()?;
    HostConfig::devices_from_env()?;
    Ok(())
}

fn enumerate() -> Result<Vec<FoundDevice>, DeviceError> {
    let info = open(0)?.info().clone();
    let found = |index| FoundDevice {
        index,
        name: info.name.clone(),
        driver: info.driver.clone(),
        kind: "CPU threads".into(),
        warp_width: Some(info.warp_width),
        memory_bytes: info.memory_bytes,
        problem: None,
        remark: None,
        rank: 0,
    };
    Ok((0..HostConfig::devices_from_env()?).map(found).collect())
}

fn open(_index: usize) -> Result<Device, DeviceError> {
    warpheap_host::open(HostConfig::from_env()?)
}
