//! Devices to test on.

#[cfg(any(feature = "cuda", feature = "vulkan"))]
use std::sync::OnceLock;
use warpheap::Device;
use warpheap_api::host::BackendKind;
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
        Self::on_threads(width, 2)
    }

    /// The same on one thread: blocks of lanes run in the same order each time, whatever else the machine does.
    pub fn in_order(width: u32) -> Self {
        Self::on_threads(width, 1)
    }

    fn on_threads(width: u32, threads: usize) -> Self {
        Self::emulator(HostConfig {
            warp_width: width,
            threads,
            check_blocks: Some(true),
            ..HostConfig::default()
        })
    }

    /// The emulator under the schedule that `seed` stands for; with the model of memory if the environment asks for it.
    pub fn explored(width: u32, seed: u64) -> Self {
        Self::emulator(HostConfig {
            warp_width: width,
            mode: Mode::Explore { seed },
            check_blocks: Some(true),
            ..HostConfig::from_env().expect("possible settings")
        })
    }

    /// The same in the model of memory, which looks for races.
    pub fn modelled(width: u32, seed: u64) -> Self {
        Self::emulator(HostConfig {
            warp_width: width,
            mode: Mode::Explore { seed },
            races: true,
            ..HostConfig::default()
        })
    }

    fn emulator(config: HostConfig) -> Self {
        let device = warpheap_host::open(config).and_then(Device::adopt);
        Self::new(device.expect("the emulator opens"))
    }

    /// The Vulkan device that the environment chooses, opened once.
    #[cfg(feature = "vulkan")]
    pub fn vulkan() -> Option<Self> {
        static SITE: OnceLock<Option<Site>> = OnceLock::new();
        gpu(&SITE, BackendKind::Vulkan, "WARPHEAP_REQUIRE_VULKAN")
    }

    /// The CUDA device that the environment chooses, opened once.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Option<Self> {
        static SITE: OnceLock<Option<Site>> = OnceLock::new();
        gpu(&SITE, BackendKind::Cuda, "WARPHEAP_REQUIRE_CUDA")
    }

    /// Whether the device compiles kernels so slowly that it gets small ones: Vulkan on CPUs.
    pub fn compiles_slowly(&self) -> bool {
        let info = self.device.info();
        let name = info.name.to_lowercase();
        let mut slow = ["swiftshader", "llvmpipe"].iter();
        info.backend == BackendKind::Vulkan && slow.any(|slow| name.contains(slow))
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

/// The site in `site`, opened the first time. Without a device there is none, and a line on standard
/// error says that tests are skipped; but where the environment variable `required` is 1, every test
/// that asks for it fails.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn gpu(site: &OnceLock<Option<Site>>, backend: BackendKind, required: &str) -> Option<Site> {
    let site = site.get_or_init(|| match Device::open_backend(backend, None) {
        Ok(device) => Some(Site::new(device)),
        Err(error) => {
            // Not through `eprintln`, which the test harness keeps to itself.
            use std::io::Write;
            let text = format!("SKIPPED: every {backend} test of the conformance suite: {error}\n");
            let _ = std::io::stderr().write_all(text.as_bytes());
            None
        }
    });
    let must = std::env::var(required).is_ok_and(|value| value.trim() == "1");
    assert!(
        site.is_some() || !must,
        "{required}=1 and there is no {backend} device: the line that begins with SKIPPED says why"
    );
    site.clone()
}
