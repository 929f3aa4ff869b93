//! What the tests of the containers share: devices with their kernels, heaps, and the check that a heap is
//! empty again.

pub mod history;

use std::ops::Range;
use warpheap::Device;
use warpheap_api::host::{BackendKind, DeviceError, HostAlloc, Pool};
use warpheap_host::HostConfig;
use warpheap_test_devices as devices;

devices::site!(Device, warpheap_container_kernels, emulator);
devices::gpus!("the containers", |backend| Device::open_backend(
    backend, None
));

fn emulator(config: HostConfig) -> Result<Device, DeviceError> {
    warpheap_host::open(config).and_then(Device::adopt)
}

impl Site {
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
        #[cfg(feature = "vulkan")]
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
