//! What the tests of the containers share: devices with their kernels, heaps, and the check that a heap is
//! empty again.

pub mod history;

use std::ops::Range;
use std::sync::OnceLock;
use warpheap::Device;
use warpheap_api::host::{BackendKind, HostAlloc, Pool};
use warpheap_container_kernels::Kernels;
use warpheap_host::HostConfig;
use warpheap_test_devices as devices;

/// An opened device with the kernels.
#[derive(Clone, Debug)]
pub struct Site {
    /// The device.
    pub device: Device,
    /// The kernels.
    pub kernels: Kernels,
}

impl Site {
    fn new(device: Device) -> Self {
        let kernels = warpheap_container_kernels::load(&device).expect("the kernels load");
        Site { device, kernels }
    }

    /// The emulator with warps of `width` lanes, on two threads, telling of overlapping blocks.
    pub fn host(width: u32) -> Self {
        Self::emulator(devices::on_threads(width, 2))
    }

    /// The emulator under the schedule that `seed` stands for; with the model of memory if the environment asks for it.
    pub fn explored(width: u32, seed: u64) -> Self {
        let config = HostConfig::from_env().expect("possible settings");
        Self::emulator(devices::explored(width, seed, config))
    }

    /// The same in the model of memory, which stops a launch at a data race, whatever the environment says.
    pub fn racing(width: u32, seed: u64) -> Self {
        let config = HostConfig {
            races: true,
            ..HostConfig::from_env().expect("possible settings")
        };
        Self::emulator(devices::explored(width, seed, config))
    }

    fn emulator(config: HostConfig) -> Self {
        let device = warpheap_host::open(config).and_then(Device::adopt);
        Self::new(device.expect("the emulator opens"))
    }

    /// The Vulkan device that the environment chooses, opened once; with `WARPHEAP_REQUIRE_VULKAN=1` its
    /// absence is a failure.
    pub fn vulkan() -> Option<Self> {
        static SITE: OnceLock<Option<Site>> = OnceLock::new();
        gpu(&SITE, BackendKind::Vulkan)
    }

    /// The CUDA device that the environment chooses, opened once; with `WARPHEAP_REQUIRE_CUDA=1` its absence
    /// is a failure.
    pub fn cuda() -> Option<Self> {
        static SITE: OnceLock<Option<Site>> = OnceLock::new();
        gpu(&SITE, BackendKind::Cuda)
    }

    /// Whether it is the emulator or Vulkan on CPUs: a few hundred lanes are many.
    pub fn is_slow(&self) -> bool {
        let info = self.device.info();
        info.backend == BackendKind::Host || devices::is_vulkan_on_cpus(info)
    }

    /// A heap of `bytes`.
    pub fn heap<A: HostAlloc>(&self, bytes: u64) -> Pool<A> {
        self.device.reserve::<A>(bytes).expect("the heap is made")
    }
}

/// Tests `vulkan` and `cuda` that hand each of these devices to a function, if they are there.
#[macro_export]
macro_rules! on_gpus {
    ($test:path) => {
        #[test]
        fn vulkan() {
            if let Some(site) = $crate::Site::vulkan() {
                $test(&site);
            }
        }

        #[cfg(feature = "cuda")]
        #[test]
        fn cuda() {
            if let Some(site) = $crate::Site::cuda() {
                $test(&site);
            }
        }
    };
}

/// A test `explored` that hands a function the emulator under a few schedules.
#[macro_export]
macro_rules! explored {
    ($test:path) => {
        #[test]
        fn explored() {
            for width in [1, 4, 32] {
                for seed in $crate::seeds(2) {
                    $test(&$crate::Site::explored(width, seed));
                }
            }
        }
    };
}

/// A test `explored_few` that hands a function the emulator under more schedules: of a launch so small that a seed
/// takes milliseconds.
#[macro_export]
macro_rules! explored_few {
    ($test:path) => {
        #[test]
        fn explored_few() {
            for width in [1, 4, 32] {
                for seed in $crate::seeds(20) {
                    let site = $crate::Site::explored(width, seed);
                    let run = || $test(&site);
                    if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
                    {
                        eprintln!("the failing schedule: width {width}, seed {seed}");
                        std::panic::resume_unwind(panic);
                    }
                }
            }
        }
    };
}

/// The schedules of an explored test: so many, or those that `WARPHEAP_SEEDS` names, `FIRST..END`.
pub fn seeds(usual: u64) -> Range<u64> {
    let Ok(asked) = std::env::var("WARPHEAP_SEEDS") else {
        return 0..usual;
    };
    let ends = asked.split_once("..").map(|(a, b)| (a.parse(), b.parse()));
    match ends {
        Some((Ok(first), Ok(end))) => first..end,
        _ => panic!("WARPHEAP_SEEDS is `{asked}`, not FIRST..END"),
    }
}

/// Nothing is left in a heap.
pub fn assert_empty<A: HostAlloc>(pool: &Pool<A>) {
    let usage = pool.stats().expect("stats").usage;
    assert_eq!(
        usage.used_bytes,
        0,
        "{}: memory is left: {usage:?}",
        A::NAME
    );
}

fn gpu(site: &'static OnceLock<Option<Site>>, backend: BackendKind) -> Option<Site> {
    let open = || Device::open_backend(backend, None).map(Site::new);
    devices::once(site, backend, "the containers", open).cloned()
}
