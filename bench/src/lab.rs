//! How launches are timed.

use crate::stats::Spread;
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;
use warpheap_api::host::{
    Device, DeviceError, DeviceVec, KernelFailure, LaunchConfig, LaunchReport, Prepared,
};
use warpheap_bench_kernels::Kernels;

/// Lanes of a block.
const BLOCK_DIM: u32 = 256;

/// Steps of the delay: some 100 microseconds on a GPU, in which the host queues a dozen operations.
const DELAY_STEPS: u32 = 12_000;

/// Repeats before the first one that counts.
const WARM_UP: u32 = 2;

/// What a kernel costs that allocates nothing, at one number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Floors {
    /// A kernel that does nothing.
    pub empty: Spread,
    /// A kernel that stores one word per lane.
    pub store: Spread,
}

/// A device with everything that a measurement needs on it.
#[derive(Debug)]
pub struct Lab {
    device: Device,
    kernels: Kernels,
    /// Where the delay puts its result.
    scratch: DeviceVec<u32>,
    repeats: u32,
    floors: HashMap<u32, Floors>,
}

impl Lab {
    /// A lab on `device` that repeats each measurement so many times, at least once.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(device: &Device, repeats: u32) -> Result<Self, DeviceError> {
        Ok(Lab {
            device: device.clone(),
            kernels: warpheap_bench_kernels::load(device)?,
            scratch: DeviceVec::zeroed(device, 1)?,
            repeats: repeats.max(1),
            floors: HashMap::new(),
        })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernels.
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Timed repeats of each measurement.
    pub fn repeats(&self) -> u32 {
        self.repeats
    }

    /// Repeats before the first one that counts.
    pub fn warm_up(&self) -> u32 {
        WARM_UP
    }

    /// The shape of a launch of `n` lanes, at least one.
    pub fn shape(n: u32) -> LaunchConfig {
        let n = n.max(1);
        LaunchConfig {
            grid_dim: n.div_ceil(BLOCK_DIM),
            block_dim: n.min(BLOCK_DIM),
        }
    }

    /// Runs `launches` in order, each behind a delay, all queued together; returns the report of each.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn time(&self, launches: &[Prepared]) -> Result<Vec<LaunchReport>, DeviceError> {
        let delay = self
            .kernels
            .delay_launch(Self::shape(1), &self.scratch, DELAY_STEPS);
        let queue: Vec<_> = launches
            .iter()
            .flat_map(|launch| [delay.clone(), launch.clone()])
            .collect();
        let reports = self.device.run_all(&queue)?;
        Ok(reports.into_iter().skip(1).step_by(2).collect())
    }

    /// The floors for `n` lanes, measured once.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn floors(&mut self, n: u32) -> Result<Floors, DeviceError> {
        if let Some(known) = self.floors.get(&n) {
            return Ok(*known);
        }
        let out = DeviceVec::<u32>::zeroed(&self.device, n.max(1) as usize)?;
        let pair = [
            self.kernels.empty_launch(Self::shape(n)),
            self.kernels.store_launch(Self::shape(n), &out),
        ];
        let mut times = [Vec::new(), Vec::new()];
        for repeat in 0..WARM_UP + self.repeats {
            let reports = self.time(&pair)?;
            if repeat >= WARM_UP {
                for (times, report) in times.iter_mut().zip(reports) {
                    times.push(report.device_time);
                }
            }
        }
        let [empty, store] = times.map(|times| spread(&times));
        let floors = Floors { empty, store };
        self.floors.insert(n, floors);
        Ok(floors)
    }
}

/// The spread of `times`, all zero if there are none.
pub(crate) fn spread(times: &[Duration]) -> Spread {
    Spread::of(times).unwrap_or(Spread {
        median: 0.0,
        p10: 0.0,
        p90: 0.0,
    })
}

/// The failure that the report of a launch tells of, if any.
pub(crate) fn failure(launch: &Prepared, report: &LaunchReport) -> Option<KernelFailure> {
    report.failure(launch.entry())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_a_lane_for_each_request() {
        for n in [1, 2, 255, 256, 257, 1 << 20, (1 << 20) + 1] {
            let shape = Lab::shape(n);
            assert!(shape.grid_dim * shape.block_dim >= n);
            assert!((shape.grid_dim - 1) * shape.block_dim < n);
            assert!(shape.block_dim <= 256);
        }
        assert_eq!(Lab::shape(0), Lab::shape(1));
    }
}
