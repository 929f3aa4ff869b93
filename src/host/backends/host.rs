//! The emulator: one device, which is always there.

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
    Ok(())
}

fn enumerate() -> Result<Vec<FoundDevice>, DeviceError> {
    let info = open(0)?.info().clone();
    Ok(vec![FoundDevice {
        index: 0,
        name: info.name,
        driver: info.driver,
        kind: "CPU threads".into(),
        warp_width: Some(info.warp_width),
        memory_bytes: info.memory_bytes,
        problem: None,
        remark: None,
    }])
}

fn open(_index: usize) -> Result<Device, DeviceError> {
    warpheap_host::open(HostConfig::from_env()?)
}
