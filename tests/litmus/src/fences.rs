//! Which fences the kernels of `reuse` have, and devices where they are so.

use warpheap::api::host::Device as Unchecked;
use warpheap::{BackendKind, Device, DeviceError};

/// The fences inside the allocators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fences {
    /// Those that release.
    pub release: bool,
    /// Those that acquire.
    pub acquire: bool,
}

impl Fences {
    /// All that are meant.
    pub const ALL: Fences = Fences {
        release: true,
        acquire: true,
    };

    /// What there is, by name.
    const NAMES: [(&str, Fences); 4] = [
        ("all", Fences::ALL),
        (
            "no-release",
            Fences {
                release: false,
                acquire: true,
            },
        ),
        (
            "no-acquire",
            Fences {
                release: true,
                acquire: false,
            },
        ),
        (
            "none",
            Fences {
                release: false,
                acquire: false,
            },
        ),
    ];

    /// Those with this name.
    ///
    /// # Errors
    /// The names that there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(other, _)| *other == name);
        found.map(|&(_, fences)| fences).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("no fences `{name}`: {}", names.join(", "))
        })
    }

    /// What they are called.
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, other)| *other == self);
        found.map_or("", |(name, _)| name)
    }

    /// Opens a device whose kernels have these fences.
    ///
    /// # Errors
    /// As `Device::open_backend`; backends that cannot leave fences out.
    pub fn open(self, backend: BackendKind) -> Result<Device, DeviceError> {
        if self == Self::ALL {
            return Device::open_backend(backend, None);
        }
        Device::adopt(self.open_without(backend)?)
    }

    fn open_without(self, backend: BackendKind) -> Result<Unchecked, DeviceError> {
        match backend {
            #[cfg(feature = "cuda")]
            BackendKind::Cuda => warpheap_cuda::open_unchecked(&warpheap_cuda::CudaConfig {
                without_release: !self.release,
                without_acquire: !self.acquire,
                ..warpheap_cuda::CudaConfig::from_env()?
            }),
            #[cfg(feature = "vulkan-raw")]
            BackendKind::Vulkan => warpheap_vulkan::open_unchecked(&warpheap_vulkan::VulkanConfig {
                without_release: !self.release,
                without_acquire: !self.acquire,
                ..warpheap_vulkan::VulkanConfig::from_env()?
            }),
            _ => Err(DeviceError::NoDevice {
                backend,
                why: "fences are left out on cuda and vulkan; in the emulator see `cargo xtask mutants`"
                    .into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_have_names() {
        for (name, fences) in Fences::NAMES {
            assert_eq!(Fences::named(name), Ok(fences));
            assert_eq!(fences.name(), name);
        }
        assert!(Fences::named("some").is_err_and(|text| text.contains("no-acquire")));
        let error = Fences::named("none")
            .expect("there is")
            .open(BackendKind::Host);
        assert!(error.is_err_and(|error| error.to_string().contains("mutants")));
    }
}
