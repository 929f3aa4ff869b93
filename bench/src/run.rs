//! The results of a run.

use crate::row::Row;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;
use warpheap_api::host::DeviceInfo;

/// All results of a run, and where it took place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Version of warpheap.
    pub version: String,
    /// When it began, in seconds since 1970.
    pub unix_time: u64,
    /// Name of the backend.
    pub backend: String,
    /// Name of the device.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Bytes of the pool of scenarios that do not have one of their own; each row says its own.
    pub pool_bytes: u64,
    /// Timed repeats of each measurement.
    pub repeats: u32,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Run {
    /// A run on `device` that has no rows yet.
    pub fn new(device: &DeviceInfo, pool_bytes: u64, repeats: u32) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Run {
            version: env!("CARGO_PKG_VERSION").to_string(),
            unix_time: since.map_or(0, |since| since.as_secs()),
            backend: device.backend.name().to_string(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            warp_width: device.warp_width,
            pool_bytes,
            repeats,
            rows: Vec::new(),
        }
    }

    /// Whether everything that was handed out was right.
    pub fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.right)
    }
}
