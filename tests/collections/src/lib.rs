//! What the tests of Rust's own collections in kernels share: devices with their kernels.

use warpheap_api::host::{Device, HostAlloc, Pool};
use warpheap_collection_kernels::Kernels;
use warpheap_host::{HostConfig, Mode};

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
        let kernels = warpheap_collection_kernels::load(&device).expect("the kernels load");
        Site { device, kernels }
    }

    /// The emulator with warps of `width` lanes, on two threads, telling of overlapping blocks.
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

    /// The CUDA device that the environment chooses, opened for the caller alone: another test's heap would
    /// be bound to the same module. With `WARPHEAP_REQUIRE_CUDA=1` its absence is a failure.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Option<Self> {
        let config = warpheap_cuda::CudaConfig::from_env().expect("good settings");
        match warpheap_cuda::open_unchecked(&config) {
            Ok(device) => Some(Self::new(device)),
            Err(error) => {
                let must = std::env::var("WARPHEAP_REQUIRE_CUDA").is_ok_and(|v| v.trim() == "1");
                assert!(!must, "WARPHEAP_REQUIRE_CUDA=1 and {error}");
                // Not through `eprintln`, which the test harness keeps to itself.
                use std::io::Write;
                let text = format!("SKIPPED: a CUDA test of Rust's collections: {error}\n");
                let _ = std::io::stderr().write_all(text.as_bytes());
                None
            }
        }
    }

    /// A heap of `bytes`.
    pub fn heap<A: HostAlloc>(&self, bytes: u64) -> Pool<A> {
        self.device.reserve::<A>(bytes).expect("the heap is made")
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
