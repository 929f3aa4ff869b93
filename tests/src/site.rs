//! Devices to test on.

#[cfg(any(feature = "cuda", feature = "vulkan"))]
use std::sync::OnceLock;
use warpheap::Device;
use warpheap_api::host::BackendKind;
use warpheap_host::HostConfig;
use warpheap_test_devices as devices;
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
        Self::emulator(devices::on_threads(width, 2))
    }

    /// The same on one thread: blocks of lanes run in the same order each time, whatever else the machine does.
    pub fn in_order(width: u32) -> Self {
        Self::emulator(devices::on_threads(width, 1))
    }

    /// The emulator under the schedule that `seed` stands for; with the model of memory if the environment asks for it.
    pub fn explored(width: u32, seed: u64) -> Self {
        let config = HostConfig::from_env().expect("possible settings");
        Self::emulator(devices::explored(width, seed, config))
    }

    /// The same in the model of memory, which looks for races.
    pub fn modelled(width: u32, seed: u64) -> Self {
        let config = HostConfig {
            races: true,
            ..HostConfig::default()
        };
        Self::emulator(devices::explored(width, seed, config))
    }

    fn emulator(config: HostConfig) -> Self {
        let device = warpheap_host::open(config).and_then(Device::adopt);
        Self::new(device.expect("the emulator opens"))
    }

    /// The Vulkan device that the environment chooses, opened once.
    #[cfg(feature = "vulkan")]
    pub fn vulkan() -> Option<Self> {
        static SITE: OnceLock<Option<Site>> = OnceLock::new();
        gpu(&SITE, BackendKind::Vulkan)
    }

    /// The CUDA device that the environment chooses, opened once.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Option<Self> {
        static SITE: OnceLock<Option<Site>> = OnceLock::new();
        gpu(&SITE, BackendKind::Cuda)
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

#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn gpu(site: &'static OnceLock<Option<Site>>, backend: BackendKind) -> Option<Site> {
    let open = || Device::open_backend(backend, None).map(Site::new);
    devices::once(site, backend, "the conformance suite", open).cloned()
}
