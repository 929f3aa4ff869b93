//! Devices to test on.

use warpheap::Device;
use warpheap_api::host::{BackendKind, DeviceError};
use warpheap_host::HostConfig;
use warpheap_test_devices as devices;

devices::site!(Device, warpheap_test_kernels, emulator);
devices::gpus!("the conformance suite", |backend| Device::open_backend(
    backend, None
));

fn emulator(config: HostConfig) -> Result<Device, DeviceError> {
    warpheap_host::open(config).and_then(Device::adopt)
}

impl Site {
    /// The emulator on one thread: blocks of lanes run in the same order each time, whatever else the machine does.
    pub fn in_order(width: u32) -> Self {
        Self::emulator(devices::on_threads(width, 1))
    }

    /// Whether the device compiles kernels so slowly that it gets small ones: Vulkan on CPUs.
    pub fn compiles_slowly(&self) -> bool {
        devices::is_vulkan_on_cpus(self.device.info())
    }

    /// Lanes for tests that want to see as many as possible at the same time.
    pub fn many_lanes(&self) -> usize {
        match self.device.info().backend {
            BackendKind::Host => 1024,
            _ if self.compiles_slowly() => 300,
            _ => 16384,
        }
    }
}
