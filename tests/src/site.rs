//! Devices to test on.

use warpheap_api::host::{BackendKind, Device};
use warpheap_host::{HostConfig, Mode};
use warpheap_test_kernels::Kernels;

/// An opened device with the suite's kernels.
#[derive(Clone, Debug)]
pub struct Site {
    /// The device.
    pub device: Device,
    /// The kernels.
    pub kernels: Kernels,
}

impl Site {
    /// The suite on a device.
    pub fn new(device: Device) -> Self {
        let kernels = warpheap_test_kernels::load(&device).expect("the suite's kernels load");
        Site { device, kernels }
    }

    /// The emulator with warps of `width` lanes, in run mode on two threads, telling of overlapping
    /// blocks.
    pub fn host(width: u32) -> Self {
        Self::emulator(HostConfig {
            warp_width: width,
            threads: 2,
            check_blocks: Some(true),
            ..HostConfig::default()
        })
    }

    /// The emulator under the schedule that `seed` stands for.
    pub fn explored(width: u32, seed: u64) -> Self {
        Self::emulator(HostConfig {
            warp_width: width,
            mode: Mode::Explore { seed },
            check_blocks: Some(true),
            ..HostConfig::default()
        })
    }

    fn emulator(config: HostConfig) -> Self {
        Self::new(warpheap_host::open(config).expect("the emulator opens"))
    }

    /// Lanes for tests that want to see as many as possible at the same time.
    pub fn many_lanes(&self) -> usize {
        match self.device.info().backend {
            BackendKind::Host | BackendKind::Vulkan => 1024,
            BackendKind::Cuda => 16384,
        }
    }
}
