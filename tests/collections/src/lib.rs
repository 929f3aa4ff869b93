//! What the tests of Rust's own collections in kernels share: devices with their kernels.

#[cfg(feature = "cuda")]
use warpheap_api::host::DeviceError;
use warpheap_api::host::{Device, HostAlloc, Pool};
use warpheap_test_devices as devices;

devices::site!(Device, warpheap_collection_kernels, warpheap_host::open);

impl Site {
    /// The CUDA device that the environment chooses, opened once, for one test at a time: a heap is bound to
    /// the module that all of them use. With `WARPHEAP_REQUIRE_CUDA=1` its absence is a failure.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Option<std::sync::MutexGuard<'static, Self>> {
        use std::sync::{Mutex, OnceLock, PoisonError};
        use warpheap_api::host::BackendKind;
        static SITE: OnceLock<Option<Mutex<Site>>> = OnceLock::new();
        let open = || {
            let config = warpheap_cuda::CudaConfig::from_env()?;
            let device = warpheap_cuda::open_unchecked(&config)?;
            Ok::<_, DeviceError>(Mutex::new(Site::new(device)))
        };
        let site = devices::once(&SITE, BackendKind::Cuda, "Rust's collections", open)?;
        // A test that failed left nothing that the next one relies on.
        Some(site.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The kernels whose collections allocate with the allocator that they are launched with.
    pub fn any_heap(&self) -> warpheap_global_heap_kernels::Kernels {
        warpheap_global_heap_kernels::load(&self.device).expect("the kernels load")
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
