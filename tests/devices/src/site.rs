//! What a crate of tests runs on: an opened device with the crate's kernels.

/// Makes the type `Site`, an opened device with the crate's kernels, on the emulator; [`gpus!`](crate::gpus) adds GPUs. A macro, since
/// each crate has kernels of its own and adds functions that only its tests need.
///
/// `$device` is the type of the device, `$kernels` the crate of the kernels, and `$open` opens the emulator from a
/// [`HostConfig`](crate::HostConfig).
#[macro_export]
macro_rules! site {
    ($device:ty, $kernels:ident, $open:expr) => {
        /// An opened device with the kernels.
        #[derive(Clone, Debug)]
        pub struct Site {
            /// The device.
            pub device: $device,
            /// The kernels.
            pub kernels: $kernels::Kernels,
        }

        impl Site {
            /// A device with the kernels.
            pub fn new(device: $device) -> Self {
                let kernels = $kernels::load(&device).expect("the kernels load");
                Site { device, kernels }
            }

            /// The emulator with warps of `width` lanes, in run mode on two threads, telling of overlapping blocks.
            pub fn host(width: u32) -> Self {
                Self::emulator($crate::on_threads(width, 2))
            }

            /// The emulator under the schedule that `seed` stands for; with the model of memory if the environment asks for it.
            pub fn explored(width: u32, seed: u64) -> Self {
                let config = $crate::HostConfig::from_env().expect("possible settings");
                Self::emulator($crate::explored(width, seed, config))
            }

            /// The same in the model of memory, which stops a launch at a data race, whatever the environment says.
            pub fn modelled(width: u32, seed: u64) -> Self {
                let config = $crate::HostConfig {
                    races: true,
                    ..$crate::HostConfig::from_env().expect("possible settings")
                };
                Self::emulator($crate::explored(width, seed, config))
            }

            /// Whether it is the emulator or Vulkan on CPUs: a few hundred lanes are many.
            pub fn is_slow(&self) -> bool {
                let info = self.device.info();
                info.backend == $crate::BackendKind::Host || $crate::is_vulkan_on_cpus(info)
            }

            fn emulator(config: $crate::HostConfig) -> Self {
                Self::new($open(config).expect("the emulator opens"))
            }
        }
    };
}

/// Adds `vulkan` and `cuda` to a [`site!`](crate::site): the devices that the environment chooses, opened once. `$open` opens one of a
/// backend, and `$tests` names the tests that are skipped without it; see [`once`](crate::once). Without `$open` the crate depends on
/// the backends, by its features `cuda` and `vulkan`, and not on the facade: the device has no kernels of the library.
#[macro_export]
macro_rules! gpus {
    ($tests:literal) => {
        #[cfg(any(feature = "cuda", feature = "vulkan"))]
        fn open_backend(
            backend: $crate::BackendKind,
        ) -> Result<warpheap_api::host::Device, warpheap_api::host::DeviceError> {
            match backend {
                #[cfg(feature = "cuda")]
                $crate::BackendKind::Cuda => {
                    warpheap_cuda::open_unchecked(&warpheap_cuda::CudaConfig::from_env()?)
                }
                #[cfg(feature = "vulkan")]
                $crate::BackendKind::Vulkan => {
                    warpheap_vulkan::open_unchecked(&warpheap_vulkan::VulkanConfig::from_env()?)
                }
                _ => warpheap_host::open($crate::HostConfig::from_env()?),
            }
        }
        #[cfg(any(feature = "cuda", feature = "vulkan"))]
        $crate::gpus!($tests, open_backend);
    };
    ($tests:literal, $open:expr) => {
        impl Site {
            /// The Vulkan device that the environment chooses, opened once; with `WARPHEAP_REQUIRE_VULKAN=1` its absence is a failure.
            #[cfg(feature = "vulkan")]
            pub fn vulkan() -> Option<Self> {
                static SITE: std::sync::OnceLock<Option<Site>> = std::sync::OnceLock::new();
                Self::gpu(&SITE, $crate::BackendKind::Vulkan)
            }

            /// The CUDA device that the environment chooses, opened once; with `WARPHEAP_REQUIRE_CUDA=1` its absence is a failure.
            #[cfg(feature = "cuda")]
            pub fn cuda() -> Option<Self> {
                static SITE: std::sync::OnceLock<Option<Site>> = std::sync::OnceLock::new();
                Self::gpu(&SITE, $crate::BackendKind::Cuda)
            }

            #[cfg(any(feature = "cuda", feature = "vulkan"))]
            fn gpu(
                place: &'static std::sync::OnceLock<Option<Site>>,
                backend: $crate::BackendKind,
            ) -> Option<Self> {
                let open = || $open(backend).map(Site::new);
                $crate::once(place, backend, $tests, open).cloned()
            }
        }
    };
}
