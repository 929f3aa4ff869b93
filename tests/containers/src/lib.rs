//! What the tests of the containers share: devices with their kernels, heaps, and the check that a heap is
//! empty again.

pub mod history;
pub mod load;

use std::ops::Range;
use warpheap::Device;
use warpheap_api::host::{DeviceError, HostAlloc, Pool};
use warpheap_host::HostConfig;
use warpheap_test_devices as devices;

/// Makes the type `Site` of the kernels of one crate.
macro_rules! sites {
    ($kernels:ident, $tests:literal) => {
        $crate::devices::site!(warpheap::Device, $kernels, $crate::emulator);
        $crate::devices::gpus!($tests, |backend| warpheap::Device::open_backend(
            backend, None
        ));

        impl Site {
            /// A heap of `bytes`.
            pub fn heap<A: warpheap_api::host::HostAlloc>(
                &self,
                bytes: u64,
            ) -> warpheap_api::host::Pool<A> {
                self.device.reserve::<A>(bytes).expect("the heap is made")
            }
        }
    };
}

sites!(warpheap_container_kernels, "the containers");

/// The same for the tests of maps.
pub mod maps {
    sites!(warpheap_map_kernels, "the maps");
}

/// The same for those of sets, multimaps and maps of containers.
pub mod sets {
    sites!(warpheap_set_kernels, "the sets");
}

fn emulator(config: HostConfig) -> Result<Device, DeviceError> {
    warpheap_host::open(config).and_then(Device::adopt)
}

/// Tests `vulkan` and `cuda` that hand each of these devices to a function, if they are there. Here and below, `Site` is the
/// one that the tests import.
#[macro_export]
macro_rules! on_gpus {
    ($test:path) => {
        #[cfg(feature = "vulkan")]
        #[test]
        fn vulkan() {
            if let Some(site) = Site::vulkan() {
                $test(&site);
            }
        }

        #[cfg(feature = "cuda")]
        #[test]
        fn cuda() {
            if let Some(site) = Site::cuda() {
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
                    $test(&Site::explored(width, seed));
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
                    let site = Site::explored(width, seed);
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
